// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/match/chains.h"

#include <QMetaType>

Q_DECLARE_METATYPE(qs::test::Prepared)

/// Networks in single steps and with operators that ONNX Runtime's optimizers write; equal names are equal values.
namespace qs::test {

struct FusedCase {
    Prepared apart, fused;
    QStringList inside; ///< "value in node", sorted
    QStringList left; ///< neither paired nor inside
};

inline constexpr const char* kMicrosoft = "com.microsoft";

inline Tensor ramp(const Shape& shape, uint32_t seed)
{
    return Tensor::of<float>(shape, normals(size_t(*elementCount(shape)), seed));
}

/// x [1,4,8], a matrix "w" and vectors "b", "g" of eight.
inline SmallModel eights(const char* path)
{
    SmallModel m(path);
    m.input("x", { 1, 4, 8 }).constant("w", ramp({ 8, 8 }, 1)).constant("b", ramp({ 8 }, 2));
    m.constant("g", ramp({ 8 }, 3));
    for (const auto& [name, value] :
        { std::pair("half", .5f), { "one", 1.f }, { "root", 1.4142f }, { "two", 2.f }, { "eps", 1e-5f } })
        m.constant(name, Tensor::scalar(value));
    return m;
}

/// out = Gelu(in + b), names with a tail.
inline void geluSteps(SmallModel& m, const std::string& in, const std::string& out, const std::string& tail = "")
{
    m.node("Add", { in, "b" }, { "a" + tail }).node("Div", { "a" + tail, "root" }, { "d" + tail });
    m.node("Erf", { "d" + tail }, { "e" + tail }).node("Add", { "e" + tail, "one" }, { "p" + tail });
    m.node("Mul", { "a" + tail, "p" + tail }, { "t" + tail }).node("Mul", { "t" + tail, "half" }, { out });
}

/// out = LayerNormalization(in) * g + b
inline void normSteps(SmallModel& m, const std::string& in, const std::string& out)
{
    const std::vector<SmallModel::Attribute> last { { "axes", std::vector<int64_t> { -1 } } };
    m.node("ReduceMean", { in }, { "mean" }, last).node("Sub", { in, "mean" }, { "c" });
    m.node("Pow", { "c", "two" }, { "sq" }).node("ReduceMean", { "sq" }, { "var" }, last);
    m.node("Add", { "var", "eps" }, { "ve" }).node("Sqrt", { "ve" }, { "sd" });
    m.node("Div", { "c", "sd" }, { "n" }).node("Mul", { "n", "g" }, { "ng" }).node("Add", { "ng", "b" }, { out });
}

inline const QStringList kNormInside { "c in n_y", "mean in n_y", "n in n_y", "ng in n_y", "sd in n_y", "sq in n_y" };

inline FusedCase biasGelu()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.node("MatMul", { "x", "w" }, { "m" });
    geluSteps(a, "m", "y");
    f.node("MatMul", { "x", "w" }, { "m" }).node("BiasGelu", { "m", "b" }, { "y" }, {}, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(),
        { "a in n_y", "d in n_y", "e in n_y", "p in n_y", "t in n_y" }, {} };
}

inline FusedCase twoGelus()
{
    SmallModel a = eights("apart"), f = eights("fused");
    geluSteps(a, "x", "u");
    geluSteps(a, "u", "y", "2");
    f.node("BiasGelu", { "x", "b" }, { "u" }, {}, kMicrosoft).node("BiasGelu", { "u", "b" }, { "y" }, {}, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(),
        { "a in n_u", "a2 in n_y", "d in n_u", "d2 in n_y", "e in n_u", "e2 in n_y", "p in n_u", "p2 in n_y",
            "t in n_u", "t2 in n_y" },
        {} };
}

/// y = LayerNormalization(s), s = x + k; with `givesSum` z = y * s.
inline FusedCase skipNormalization(bool givesSum)
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.input("k", { 1, 4, 8 }).node("Add", { "x", "k" }, { "s" });
    normSteps(a, "s", "y");
    SmallModel::Names outputs { "y" };
    if (givesSum)
        outputs.insert(outputs.end(), { "", "", "s" });
    f.input("k", { 1, 4, 8 }).node("SkipLayerNormalization", { "x", "k", "g", "b" }, outputs, {}, kMicrosoft);
    QStringList inside = kNormInside;
    if (!givesSum)
        inside << "s in n_y";
    inside << "var in n_y"
           << "ve in n_y";
    for (SmallModel* m : { &a, &f })
        if (givesSum)
            m->node("Mul", { "y", "s" }, { "z" }).output("z");
        else
            m->output("y");
    return { a.finish(), f.finish(), inside, {} };
}

/// z = x + LayerNormalization(x)
inline FusedCase residualAround()
{
    SmallModel a = eights("apart"), f = eights("fused");
    normSteps(a, "x", "y");
    f.node("LayerNormalization", { "x", "g", "b" }, { "y" });
    for (SmallModel* m : { &a, &f })
        m->node("Add", { "x", "y" }, { "z" }).output("z");
    return { a.finish(), f.finish(), kNormInside + QStringList { "var in n_y", "ve in n_y" }, {} };
}

/// y = half * (x' k)
inline FusedCase fusedMatMul()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.input("k", { 1, 4, 8 }).node("Transpose", { "x" }, { "xt" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    a.node("MatMul", { "xt", "k" }, { "m" }).node("Mul", { "m", "half" }, { "y" });
    f.input("k", { 1, 4, 8 });
    f.node("FusedMatMul", { "x", "k" }, { "y" }, { { "transA", int64_t(1) }, { "alpha", .5f } }, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), { "m in n_y", "xt in n_y" }, {} };
}

inline FusedCase fusedConv()
{
    SmallModel a("apart"), f("fused");
    for (SmallModel* m : { &a, &f })
        m->input("x", { 1, 2, 5, 5 }).constant("w", Tensor::of<float>(kWeight, kW1)).constant("b", ramp({ 4 }, 2));
    a.constant("g", ramp({ 4 }, 3)).constant("mean", ramp({ 4 }, 4));
    a.constant("var", Tensor::of<float>({ 4 }, { 1, 2, 3, 4 }));
    a.node("Conv", { "x", "w" }, { "c" }, kPads).node("BatchNormalization", { "c", "g", "b", "mean", "var" }, { "n" });
    a.node("Relu", { "n" }, { "y" });
    std::vector<SmallModel::Attribute> attributes = kPads;
    attributes.emplace_back("activation", std::string("Relu"));
    f.node("FusedConv", { "x", "w", "b" }, { "y" }, attributes, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), { "c in n_y", "n in n_y" }, {} };
}

/// y = LayerNormalization(words[ids] + places), the places by the length of the text.
inline FusedCase embedding()
{
    SmallModel a = eights("apart"), f = eights("fused");
    for (SmallModel* m : { &a, &f })
        m->input("ids", { 1, 4 }, DType::Int32)
            .constant("words", ramp({ 20, 8 }, 7))
            .constant("places", ramp({ 4, 8 }, 8));
    a.node("Gather", { "words", "ids" }, { "wv" }).node("Add", { "wv", "places" }, { "s" });
    normSteps(a, "s", "y");
    f.node("EmbedLayerNormalization", { "ids", "", "words", "places", "", "g", "b" }, { "y", "" }, {}, kMicrosoft);
    const QStringList inside = kNormInside + QStringList { "s in n_y", "var in n_y", "ve in n_y", "wv in n_y" };
    for (SmallModel* m : { &a, &f })
        m->node("Add", { "x", "y" }, { "z" }).output("z");
    return { a.finish(), f.finish(), inside, {} };
}

/// A Gemm with the bias against a product whose bias is added behind it.
inline FusedCase movedBias()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.constant("rows", Tensor::of<int64_t>({ 2 }, { 4, 8 })).constant("whole", Tensor::of<int64_t>({ 3 }, { 1, 4, 8 }));
    a.node("Reshape", { "x", "rows" }, { "xr" }).node("Gemm", { "xr", "w", "g" }, { "m" });
    a.node("Reshape", { "m", "whole" }, { "mr" }).node("Tanh", { "mr" }, { "th" }).node("Mul", { "mr", "th" }, { "y" });
    f.node("MatMul", { "x", "w" }, { "bare" }).node("FastGelu", { "bare", "g" }, { "y" }, {}, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), { "m in n_y", "mr in n_y", "th in n_y" }, { "xr" } };
}

/// The same of a product that makes codes of what it reads.
inline FusedCase movedBiasOfCodes()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.constant("codes", Tensor::of<int8_t>({ 8, 8 }, std::vector<int8_t>(64, 5)));
    a.constant("scale", Tensor::scalar(.1f)).constant("zero", Tensor::scalar<int8_t>(0));
    a.node("DynamicQuantizeMatMul", { "x", "codes", "scale", "zero", "g" }, { "m" }, {}, kMicrosoft);
    a.node("Tanh", { "m" }, { "th" }).node("Mul", { "m", "th" }, { "y" });
    f.node("MatMul", { "x", "w" }, { "bare" }).node("FastGelu", { "bare", "g" }, { "y" }, {}, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), { "m in n_y", "th in n_y" }, {} };
}

/// One file reads k in between, the other does not: what is between is not inside that node.
inline FusedCase foreignSource()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.input("k", { 1, 4, 8 }).node("Exp", { "x" }, { "e" }).node("Mul", { "e", "k" }, { "y" });
    f.input("k", { 1, 4, 8 }).node("Gelu", { "x" }, { "y" }, {}, kMicrosoft).node("Add", { "y", "k" }, { "z" });
    return { a.output("y").finish(), f.output("z").finish(), {}, { "e", "z" } };
}

/// The other file lacks a step: it is not inside the next one.
inline FusedCase missingStep()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.node("Exp", { "x" }, { "e" }).node("Sigmoid", { "e" }, { "y" });
    f.node("Sigmoid", { "x" }, { "y" });
    return { a.output("y").finish(), f.output("y").finish(), {}, { "e" } };
}

/// y = sqrt(exp(x)) against exp(x / 2).
inline FusedCase severalSteps()
{
    SmallModel a = eights("apart"), f = eights("fused");
    a.node("Exp", { "x" }, { "a" }).node("Sqrt", { "a" }, { "y" });
    f.node("Mul", { "x", "half" }, { "h" }).node("Exp", { "h" }, { "y" });
    return { a.output("y").finish(), f.output("y").finish(), {}, { "a", "h" } };
}

} // namespace qs::test
