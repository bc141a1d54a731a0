// SPDX-License-Identifier: GPL-3.0-or-later
// Attention in one operator and in steps, for units_test.cpp.
#pragma once

#include "tests/match/fused_graphs.h"

namespace qs::test {

/// out = Attention(in) with two heads; a mask that is added is read from "extended".
inline QStringList attentionSteps(
    SmallModel& m, const std::string& in, const std::string& out, const std::string& tail, bool masked)
{
    const std::vector<SmallModel::Attribute> swap { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } };
    QStringList made;
    const auto step = [&](const char* type, const SmallModel::Names& inputs, const std::string& name,
                          const std::vector<SmallModel::Attribute>& attributes = {}) {
        m.node(type, inputs, { name }, attributes);
        made << QString::fromStdString(name + " in n_" + out);
        return name;
    };
    std::vector<std::string> parts;
    for (const std::string part : { "q", "k", "v" }) {
        const std::string name = part + tail;
        step("MatMul", { in, "w" }, name + "m");
        step("Add", { name + "m", "b" }, name + "a");
        step("Reshape", { name + "a", "heads" }, name + "r");
        parts.push_back(step("Transpose", { name + "r" }, name + "t",
            part == "k" ? std::vector<SmallModel::Attribute> { { "perm", std::vector<int64_t> { 0, 2, 3, 1 } } }
                        : swap));
    }
    std::string scores = step("MatMul", { parts[0], parts[1] }, "s" + tail);
    scores = step("Div", { scores, "two" }, "sd" + tail);
    if (masked)
        scores = step("Add", { scores, "extended" }, "sm" + tail);
    step("Softmax", { scores }, "p" + tail, { { "axis", int64_t(-1) } });
    step("MatMul", { "p" + tail, parts[2] }, "o" + tail);
    step("Transpose", { "o" + tail }, "ot" + tail, swap);
    m.node("Reshape", { "ot" + tail, "whole" }, { out });
    return made;
}

inline SmallModel attentionModel(const char* path)
{
    SmallModel m = eights(path);
    m.constant("heads", Tensor::of<int64_t>({ 4 }, { 1, 4, 2, 4 }));
    m.constant("whole", Tensor::of<int64_t>({ 3 }, { 1, 4, 8 }));
    m.constant("packed", ramp({ 8, 24 }, 5)).constant("bias", ramp({ 24 }, 6));
    return m;
}

inline const std::vector<SmallModel::Attribute> kTwoHeads { { "num_heads", int64_t(2) } };

inline FusedCase attention()
{
    SmallModel a = attentionModel("apart"), f = attentionModel("fused");
    QStringList inside = attentionSteps(a, "x", "y", "", false);
    inside.sort();
    f.node("Attention", { "x", "packed", "bias" }, { "y" }, kTwoHeads, kMicrosoft);
    for (SmallModel* m : { &a, &f })
        m->node("Neg", { "y" }, { "z" }).output("z");
    return { a.finish(), f.finish(), inside, {} };
}

/// Both read what was made of the mask: it is inside the first of them. Their sums of the mask are the other file's.
inline FusedCase twoAttentions()
{
    SmallModel a = attentionModel("apart"), f = attentionModel("fused");
    a.input("mask", { 1, 4 }).node("Sub", { "one", "mask" }, { "off" });
    a.constant("low", Tensor::scalar(-1e4f)).constant("axes", Tensor::of<int64_t>({ 2 }, { 1, 2 }));
    a.node("Mul", { "off", "low" }, { "lows" }).node("Unsqueeze", { "lows", "axes" }, { "extended" });
    QStringList inside = attentionSteps(a, "x", "u", "1", true) + attentionSteps(a, "u", "y", "2", true)
        + QStringList { "off in n_u", "lows in n_u", "extended in n_u" };
    inside.sort();
    f.input("mask", { 1, 4 }).node("Cast", { "mask" }, { "whole_mask" }, { { "to", int64_t(6) } });
    f.node("ReduceSum", { "whole_mask", "last" }, { "index" }, { { "keepdims", int64_t(0) } });
    f.constant("last", Tensor::of<int64_t>({ 1 }, { 1 }));
    f.node("Attention", { "x", "packed", "bias", "index" }, { "u" }, kTwoHeads, kMicrosoft);
    f.node("Attention", { "u", "packed", "bias", "index" }, { "y" }, kTwoHeads, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), inside, { "index" } };
}

/// The mask comes to the attention by way of the embedding, which has a partner itself.
inline FusedCase maskOfEmbedding()
{
    SmallModel a = attentionModel("apart"), f = attentionModel("fused");
    for (SmallModel* m : { &a, &f })
        m->input("ids", { 1, 4 }, DType::Int32)
            .input("mask", { 1, 4 }, DType::Int32)
            .constant("words", ramp({ 20, 8 }, 7))
            .constant("places", ramp({ 4, 8 }, 8));
    a.node("Gather", { "words", "ids" }, { "wv" }).node("Add", { "wv", "places" }, { "sum" });
    normSteps(a, "sum", "e");
    a.constant("low", Tensor::scalar(-1e4f)).constant("axes", Tensor::of<int64_t>({ 2 }, { 1, 2 }));
    a.node("Cast", { "mask" }, { "fm" }, { { "to", int64_t(1) } }).node("Sub", { "one", "fm" }, { "off" });
    a.node("Mul", { "off", "low" }, { "lows" }).node("Unsqueeze", { "lows", "axes" }, { "extended" });
    QStringList inside = attentionSteps(a, "e", "y", "1", true);
    for (const char* name : { "off", "lows", "extended" })
        inside << QString(name) + " in n_y";
    for (const char* name : { "c", "mean", "n", "ng", "sd", "sq", "var", "ve", "wv", "sum" })
        inside << QString(name) + " in n_e";
    inside.sort();
    f.node("EmbedLayerNormalization", { "ids", "", "words", "places", "", "g", "b", "mask" }, { "e", "index" }, {},
        kMicrosoft);
    f.node("Attention", { "e", "packed", "bias", "index" }, { "y" }, kTwoHeads, kMicrosoft);
    return { a.output("y").finish(), f.output("y").finish(), inside, { "index" } };
}

} // namespace qs::test
