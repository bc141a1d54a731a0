// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kCount = 512;

FixedData scaled(const Shape& shape, float factor)
{
    size_t count = 1;
    for (const int64_t size : shape)
        count *= size_t(size);
    std::vector<float> values = normals(int(count), 9);
    for (float& v : values)
        v *= factor;
    return FixedData({ Tensor::of<float>(shape, values) });
}

Comparison proved(const ComparePair& pair, const FixedData& data)
{
    CompareOptions options;
    options.prove = true;
    auto result = compareModels(pair, data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

/// x -> MatMul -> LeakyRelu -> a -> MatMul -> b -> Neg -> y
Prepared leaky(float alpha)
{
    const Tensor square = Tensor::of<float>({ 4, 4 }, uniform(16, 5));
    SmallModel m("leaky");
    m.input("x", { 2, 4 }).constant("w", square).constant("v", square);
    m.node("MatMul", { "x", "w" }, { "m" }).node("LeakyRelu", { "m" }, { "a" }, { { "alpha", alpha } });
    return m.node("MatMul", { "a", "v" }, { "b" }).node("Neg", { "b" }, { "y" }).output("y").finish();
}

/// The product of products.h, and another operator behind it.
Prepared behindProduct(bool codes, const char* last)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, 4 });
    if (!codes)
        m.constant("w", kFloatWeight).node("MatMul", { "x", "w" }, { "m" }).node("Relu", { "m" }, { "y" });
    else
        m.constant("xs", Tensor::scalar(1.f / 127))
            .constant("xz", Tensor::scalar<int8_t>(0))
            .constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(kWeights, { 1.f / 127 })))
            .constant("ys", Tensor::scalar(3.f / 255))
            .constant("yz", Tensor::scalar<int8_t>(-128))
            .node("QuantizeLinear", { "x", "xs", "xz" }, { "x_quantized" })
            .node("QLinearMatMul", { "x_quantized", "xs", "xz", "w_quantized", "xs", "xz", "ys", "yz" },
                { "y_quantized" })
            .node("DequantizeLinear", { "y_quantized", "ys", "yz" }, { "y" });
    return m.node(last, { "y" }, { "z" }).output("z").finish();
}

/// Two products, in float16 between casts or in float32.
Prepared large(bool half)
{
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kCount });
    const auto type = half ? DType::Float16 : DType::Float32;
    m.constant("c", realTensor(type, {}, std::vector<float> { 30000.f }))
        .constant("d", realTensor(type, {}, std::vector<float> { 0.0001f }));
    if (!half)
        return m.node("Mul", { "x", "c" }, { "a" }).node("Mul", { "a", "d" }, { "y" }).output("y").finish();
    return m.node("Cast", { "x" }, { "xh" }, { { "to", int64_t(10) } })
        .node("Mul", { "xh", "c" }, { "a" })
        .node("Mul", { "a", "d" }, { "yh" })
        .node("Cast", { "yh" }, { "y" }, { { "to", int64_t(1) } })
        .output("y")
        .finish();
}

/// An operator with a bias of a scale of its own.
Prepared biased(const std::string& type, bool codes)
{
    const bool conv = type == "Conv";
    const Shape shape = conv ? Shape { 2, 2, 1, 1 } : Shape { 2 };
    const std::vector<float> w = conv ? std::vector<float> { 1, 0.5f, -0.5f, 1 } : std::vector<float> { 1, 0.5f };
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, 2, 8, 8 });
    if (!codes)
        return m.constant("w", Tensor::of<float>(shape, w))
            .constant("b", Tensor::of<float>({ 2 }, { 0.5f, -0.25f }))
            .node(type, { "x", "w", "b" }, { "y" })
            .output("y")
            .finish();
    m.qdq<int8_t>("x", "x_dq", 0.034f, 0).weight("w", shape, symmetricCodes(w, { 1.f / 127 }), { 1.f / 127 });
    m.constant("b_quantized", Tensor::of<int32_t>({ 2 }, { 50, -25 }))
        .constant("b_scale", Tensor::scalar(0.01f))
        .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" });
    return m.node(type, { "x_dq", "w", "b" }, { "u" }).qdq<int8_t>("u", "y", 0.05f, 0).output("y").finish();
}

/// A Conv whose bias is stored in int8, in the scale of its sums: too small a range for it from `bias` 2 on.
Prepared shortBias(bool codes, float bias)
{
    constexpr float kIn = 0.034f, kWeight = 1.f / 127, kBias = kIn * kWeight;
    const std::vector<float> w { 1, 0.5f, -0.5f, 1 }, b { bias, -bias };
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, 2, 8, 8 });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, w))
            .constant("b", Tensor::of<float>({ 2 }, b))
            .node("Conv", { "x", "w", "b" }, { "y" })
            .output("y")
            .finish();
    std::vector<int8_t> stored;
    for (const float v : b)
        stored.push_back(int8_t(std::clamp<long>(std::lround(v / kBias), -128, 127)));
    m.qdq<int8_t>("x", "x_dq", kIn, 0).weight("w", { 2, 2, 1, 1 }, symmetricCodes(w, { kWeight }), { kWeight });
    m.constant("b_quantized", Tensor::of<int8_t>({ 2 }, stored))
        .constant("b_scale", Tensor::scalar(kBias))
        .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" });
    return m.node("Conv", { "x_dq", "w", "b" }, { "y" }).output("y").finish();
}

/// A Clip to 0 … 6, which a quantizer takes the place of.
Prepared clipped(bool codes, float scale, int8_t zero)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kCount });
    if (!codes)
        return m.constant("low", Tensor::scalar(0.f))
            .constant("high", Tensor::scalar(6.f))
            .node("Neg", { "x" }, { "n" })
            .node("Clip", { "n", "low", "high" }, { "a" })
            .node("Neg", { "a" }, { "y" })
            .output("y")
            .finish();
    m.node("Neg", { "x" }, { "a" }).qdq<int8_t>("a", "a_dq", scale, zero);
    return m.node("Neg", { "a_dq" }, { "y" }).output("y").finish();
}

/// A product, its weight of few bits with a scale a channel, its input with codes of `inputScale`.
Prepared fewBits(bool codes, const std::string& type, float inputScale)
{
    constexpr int64_t kSide = 16, kStride = 2;
    const bool conv = type == "ConvTranspose";
    const Shape shape = conv ? Shape { kSide, 4, 2, 2 } : Shape { kSide, kSide };
    const std::vector<float> w = uniform(int(kSide * kSide), 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", conv ? Shape { 1, kSide, 4, 4 } : Shape { kSide, kSide }).node("Neg", { "x" }, { "a" });
    if (codes) {
        const std::vector<float> scale(size_t(conv ? 4 : kSide), 1.f / 7);
        std::vector<int8_t> stored;
        for (const float v : w)
            stored.push_back(int8_t(std::lround(v * 7)));
        m.qdq<int16_t>("a", "a_dq", inputScale, 0);
        m.constant("w_codes", packedAs(Tensor::of<int8_t>(shape, stored), DType::Int4))
            .constant("w_scale", Tensor::of<float>({ int64_t(scale.size()) }, scale))
            .node("DequantizeLinear", { "w_codes", "w_scale" }, { "w" }, { { "axis", int64_t(1) } });
    } else {
        m.constant("w", Tensor::of<float>(shape, w));
    }
    std::vector<SmallModel::Attribute> attributes;
    if (conv)
        attributes = { { "strides", std::vector<int64_t> { kStride, kStride } } };
    return m.node(type, { codes ? "a_dq" : "a", "w" }, { "y" }, attributes).output("y").finish();
}

/// A product of what a quantizer makes that nobody knows.
Prepared foreignQuantizer(const std::string& type, const std::string& domain, bool codes)
{
    SmallModel m("q");
    m.input("x", { 4, 4 }).constant("w", Tensor::of<float>({ 4, 4 }, uniform(16, 5)));
    if (!type.empty())
        m.node(type, { "w" }, { "v" }, {}, domain);
    m.node("MatMul", { "x", type.empty() ? "w" : "v" }, { "m" });
    if (codes)
        m.qdq<int8_t>("m", "m_dq", 0.02f, 0);
    return m.node("Neg", { codes ? "m_dq" : "m" }, { "y" }).output("y").finish();
}

/// x -> Neg -> a -> MatMul -> y; in the other file `a` is moved before it is quantized.
Prepared moved(bool codes, const std::string& move)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, 4, 4 }).constant("w", Tensor::of<float>({ 4, 4 }, uniform(16, 5)));
    m.node("Neg", { "x" }, { "a" });
    if (!codes)
        return m.node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
    const bool turned = move == "Transpose";
    m.constant("to", Tensor::of<int64_t>({ 2 }, { 8, 4 })).constant("back", Tensor::of<int64_t>({ 3 }, { 2, 4, 4 }));
    if (turned)
        m.node("Transpose", { "a" }, { "r" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    else
        m.node("Reshape", { "a", "to" }, { "r" });
    m.qdq<int8_t>("r", "r_dq", 0.002f, 0).node("MatMul", { "r_dq", "w" }, { "u" });
    m.node("Reshape", { "u", "back" }, { "y" }).output("y");
    if (move == "read elsewhere")
        m.node("Abs", { "a" }, { "other" }).output("other");
    return m.finish();
}

} // namespace

/// Findings name the cause, not what follows from it, and say nothing where there is none.
/// Scores of attention with a causal mask, then Softmax; quantized from `low` on where a scale is given.
Prepared masked(float mask, float low, float scale)
{
    constexpr int kPlaces = 8;
    std::vector<float> triangle;
    for (int i = 0; i < kPlaces; ++i)
        for (int j = 0; j < kPlaces; ++j)
            triangle.push_back(j > i ? mask : 0);
    SmallModel m(scale > 0 ? "q" : "f");
    m.input("x", { 1, kPlaces, kPlaces }).constant("mask", Tensor::of<float>({ 1, kPlaces, kPlaces }, triangle));
    m.node("Add", { "x", "mask" }, { "a" });
    if (scale > 0)
        m.qdq<uint8_t>("a", "a_dq", scale, uint8_t(std::lround(-low / scale)));
    return m.node("Softmax", { scale > 0 ? "a_dq" : "a" }, { "y" }).output("y").finish();
}

/// x -> LayerNormalization -> MatMul -> Add -> y. `factor`: what smoothing moved from the normalization's scale to the
/// weight, `weightFactor` what it has there; `bias` is added to the float model's.
Prepared normalized(bool codes, float factor, float weightFactor, float bias)
{
    constexpr int kWidth = 16, kOutputs = 8;
    const std::vector<float> w = uniform(kWidth * kOutputs, 5), b = uniform(kOutputs, 6);
    std::vector<float> gamma(kWidth), beta(kWidth), weight(w.size()), added(b.size());
    for (size_t i = 0; i < gamma.size(); ++i) {
        const float own = i % 3 == 0 ? factor : 1, theirs = i % 3 == 0 ? weightFactor : 1;
        gamma[i] = (1 + 0.1f * float(i)) / own;
        beta[i] = (0.1f * float(i) - 1) / own;
        for (size_t o = 0; o < kOutputs; ++o)
            weight[i * kOutputs + o] = w[i * kOutputs + o] * theirs;
    }
    for (size_t o = 0; o < b.size(); ++o)
        added[o] = b[o] + bias;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 32, kWidth }).constant("gamma", Tensor::of<float>({ kWidth }, gamma));
    m.constant("beta", Tensor::of<float>({ kWidth }, beta)).constant("b", Tensor::of<float>({ kOutputs }, added));
    m.node("LayerNormalization", { "x", "gamma", "beta" }, { "n" }, { { "axis", int64_t(-1) } });
    if (codes) {
        const float scale = std::max(weightFactor, 1.f) / 127;
        m.qdq<int8_t>("n", "n_dq", 0.04f, 0);
        m.weight("w", { kWidth, kOutputs }, symmetricCodes(weight, { scale }), { scale });
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, kOutputs }, weight));
    }
    m.node("MatMul", { codes ? "n_dq" : "n", "w" }, { "p" }).node("Add", { "p", "b" }, { "y" });
    return m.output("y").finish();
}

class NamedCausesTests : public QObject {
    Q_OBJECT

private slots:
    /// Pairs that differ may have been given up: the first of them is named all the same.
    void partsAtWhatIsUnpaired()
    {
        const Prepared f = leaky(0.1f), q = leaky(0.4f);
        ComparePair pair = pairOf(f, q);
        Alignment alignment = *pair.alignment;
        for (const char* name : { "a", "b" }) {
            std::erase_if(alignment.values, [&](const ValuePair& p) { return p.floatValue == f.value(name); });
            alignment.unmatchedFloat.push_back(f.value(name));
        }
        pair.alignment = std::make_shared<const Alignment>(std::move(alignment));
        const Comparison c = proved(pair, scaled({ 2, 4 }, 1));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->node, std::string("n_a"));
    }

    /// Before a Relu that the operator's range does, the files are no further apart than behind it.
    void partsBehindTheRange()
    {
        const Prepared f = behindProduct(false, "Neg"), q = behindProduct(true, "Sqrt");
        const Comparison c = proved(pairOf(f, q), FixedData({ Tensor::of<float>({ 2, 4 }, uniform(8, 3)) }));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->tensor, std::string("z"));
    }

    void overflows_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<bool>("overflows");
        QTest::newRow("small") << 0.5f << false;
        QTest::newRow("large") << 2.f << true;
    }
    void overflows()
    {
        QFETCH(float, factor);
        QFETCH(bool, overflows);
        const Comparison c = proved(pairOf(large(false), large(true)), scaled({ kCount }, factor));
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::ValueOverflows);
        QCOMPARE(found != nullptr, overflows);
        if (found) {
            QCOMPARE(found->node, std::string("n_a"));
            QVERIFY(found->remedy.find("n_a") != std::string::npos);
        }
        QVERIFY(c.network && c.network->known() != overflows);
    }

    void biasScales_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("told");
        QTest::newRow("sums of products") << "Conv" << true;
        QTest::newRow("no kernel on codes") << "InstanceNormalization" << false;
    }
    void biasScales()
    {
        QFETCH(QString, type);
        QFETCH(bool, told);
        const std::string name = type.toStdString();
        const Comparison c = compared(biased(name, false), biased(name, true), scaled({ 1, 2, 8, 8 }, 1));
        QVERIFY(std::ranges::any_of(c.weights, [](const WeightRow& row) { return row.bias; }));
        QVERIFY2((findingOf(c, Rule::WrongBiasScale) != nullptr) == told, qPrintable(rulesOf(c)));
    }

    void shortBiases_data()
    {
        QTest::addColumn<float>("bias");
        QTest::addColumn<bool>("told");
        QTest::newRow("they hold it") << 0.03f << false;
        QTest::newRow("they saturate") << 0.2f << true;
    }
    /// What a bias is off by comes from the node, not in with its input.
    void shortBiases()
    {
        QFETCH(float, bias);
        QFETCH(bool, told);
        const Comparison c = compared(shortBias(false, bias), shortBias(true, bias), scaled({ 1, 2, 8, 8 }, 1));
        QVERIFY(std::ranges::any_of(c.weights, [](const WeightRow& row) { return row.bias; }));
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        if (!told)
            return;
        QVERIFY(found->title.ends_with("is clipped"));
        QCOMPARE(found->change.kind, RemedyKind::Requantize);
        const NoiseSplit& noise = rowOf(c, "y").noise;
        QVERIFY(*noise.weights > 10 * std::fabs(*noise.inherited));
    }

    void lostActivations_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("zero");
        QTest::addColumn<float>("factor"); ///< of the data
        QTest::addColumn<bool>("lost");
        QTest::newRow("beyond what is reached") << 6.67f / 255 << -128 << 1.f << false;
        QTest::newRow("beyond, and reached") << 12.f / 255 << -128 << 4.f << true;
        QTest::newRow("negative values pass") << 6.f / 127 << 0 << 1.f << true;
    }
    void lostActivations()
    {
        QFETCH(float, scale);
        QFETCH(int, zero);
        QFETCH(float, factor);
        QFETCH(bool, lost);
        const Comparison c
            = compared(clipped(false, 0, 0), clipped(true, scale, int8_t(zero)), scaled({ kCount }, factor));
        const Finding* found = findingOf(c, Rule::ActivationLost);
        QVERIFY2((found != nullptr) == lost, qPrintable(rulesOf(c)));
        if (found) // the share is of all values, not of those beyond
            QVERIFY2(found->summary.find("% of all values are ") != std::string::npos
                    && found->summary.find(" and pass; they reach from ") != std::string::npos,
                found->summary.c_str());
    }

    void inputAlone_data()
    {
        QTest::addColumn<float>("behind"); ///< scale
        QTest::addColumn<bool>("others");
        QTest::newRow("the input alone") << 0.034f << false;
        QTest::newRow("what is behind it, too") << 0.002f << true;
    }
    /// Mending the input alone does not help where others are off; else it is all that there is to gain.
    void inputAlone()
    {
        QFETCH(float, behind);
        QFETCH(bool, others);
        SmallModel f("f"), q("q");
        f.input("x", { kCount }).node("Neg", { "x" }, { "a" }).node("Neg", { "a" }, { "y" }).output("y");
        q.input("x", { kCount }).qdq<int8_t>("x", "x_dq", 0.002f, 0).node("Neg", { "x_dq" }, { "a" });
        q.qdq<int8_t>("a", "a_dq", behind, 0).node("Neg", { "a_dq" }, { "y" }).output("y");
        const Comparison c = compared(f.finish(), q.finish(), scaled({ kCount }, 1));
        const Finding* found = findingOf(c, Rule::InputMismatch);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->remedy.find("the input alone does not help") != std::string::npos, others);
    }

    void otherConstants_data()
    {
        QTest::addColumn<float>("factor"); // from the normalization
        QTest::addColumn<float>("weightFactor");
        QTest::addColumn<float>("bias");
        QTest::addColumn<QString>("cause"); // of weights_differ
        QTest::addColumn<QString>("severity");
        QTest::newRow("the same") << 1.f << 1.f << 0.f << ""
                                  << "";
        QTest::newRow("corrected bias") << 1.f << 1.f << 0.005f << "constants"
                                        << "note";
        QTest::newRow("another bias") << 1.f << 1.f << 2.f << "constants"
                                      << "error";
        QTest::newRow("smoothed") << 2.f << 2.f << 0.f << ""
                                  << "";
        QTest::newRow("smoothed and corrected") << 2.f << 2.f << 0.005f << "constants"
                                                << "note";
        QTest::newRow("smoothed, and forgotten in the weight") << 2.f << 1.f << 0.f << "constants"
                                                               << "error";
    }
    /// What smoothing and bias correction change is no other network, and no fault; a damaged constant is one, by name.
    void otherConstants()
    {
        QFETCH(float, factor);
        QFETCH(float, weightFactor);
        QFETCH(float, bias);
        QFETCH(QString, cause);
        QFETCH(QString, severity);
        const Comparison c = proved(
            pairOf(normalized(false, 1, 1, 0), normalized(true, factor, weightFactor, bias)), scaled({ 32, 16 }, 1));
        QVERIFY2(c.network && c.network->same() == (severity != "error"), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found != nullptr) == !cause.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(QString::fromStdString(found->cause), cause);
        QCOMPARE(QString::fromUtf8(severityName(found->severity)), severity);
    }

    /// Weights that were rounded and stored as reals, as exporters of quantization-aware training leave them, are the
    /// float model's.
    void weightsStoredAsReals()
    {
        const std::vector<float> w = uniform(128, 5);
        std::vector<float> rounded;
        for (const float v : w)
            rounded.push_back(float(std::nearbyint(double(v) * 127) / 127));
        const auto network = [&](const std::vector<float>& weight, bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 32, 16 }).constant("w", Tensor::of<float>({ 16, 8 }, weight));
            if (codes)
                m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
            return m.node("MatMul", { codes ? "x_dq" : "x", "w" }, { "y" }).output("y").finish();
        };
        const Comparison c = proved(pairOf(network(w, false), network(rounded, true)), scaled({ 32, 16 }, 1));
        QVERIFY2(c.network && c.network->same() && !c.network->otherConstants, qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer) && !findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
    }

    /// The place where most comes in, and by what, not one before it that differs by less than a thousandth.
    void otherFunction()
    {
        const auto network = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 32, 16 }).constant("c", Tensor::scalar(codes ? 1.001f : 1.f));
            m.node("Mul", { "x", "c" }, { "a" });
            if (codes)
                m.qdq<int8_t>("a", "a_dq", 0.04f, 0);
            m.node(codes ? "HardSigmoid" : "Sigmoid", { codes ? "a_dq" : "a" }, { "s" });
            return m.node("Neg", { "s" }, { "y" }).output("y").finish();
        };
        const Comparison c = proved(pairOf(network(false), network(true)), scaled({ 32, 16 }, 1));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->tensor, std::string("s"));
        QVERIFY2(found->summary.find("HardSigmoid") != std::string::npos, found->summary.c_str());
    }

    void masks_data()
    {
        QTest::addColumn<float>("mask");
        QTest::addColumn<float>("low"); // of the range
        QTest::addColumn<bool>("named");
        QTest::newRow("whole") << -1e4f << -1e4f << true;
        QTest::newRow("half as far") << -65504.f << -32000.f << true;
        QTest::newRow("near") << -100.f << -100.f << true;
        QTest::newRow("cut off") << -1e4f << -25.f << false;
        QTest::newRow("small") << -20.f << -20.f << false;
    }
    /// A mask takes the steps of the scores; cutting it off does no harm, and is not called clipping.
    void masks()
    {
        QFETCH(float, mask);
        QFETCH(float, low);
        QFETCH(bool, named);
        const Comparison c = compared(masked(mask, 0, 0), masked(mask, low, (3 - low) / 255), scaled({ 1, 8, 8 }, 1));
        const Finding* found = findingOf(c, Rule::ExtremeConstant);
        QVERIFY2((found != nullptr) == named, qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::RangeTooSmall) && !findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(found->change.kind, RemedyKind::SetRange);
        QVERIFY(found->change.low > -100 && found->change.low < -12);
    }

    /// A scalar has no other elements that are rounded well.
    void otherScalar()
    {
        const auto network = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kCount });
            if (codes)
                m.weight("c", {}, { 127 }, { 0.5f / 127 });
            else
                m.constant("c", Tensor::scalar(0.125f));
            m.node("Mul", { "x", "c" }, { "a" });
            if (codes)
                m.qdq<int8_t>("a", "a_dq", 0.02f, 0);
            return m.node("Neg", { codes ? "a_dq" : "a" }, { "y" }).output("y").finish();
        };
        const Comparison c = compared(network(false), network(true), scaled({ kCount }, 1));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("all others") == std::string::npos, found->summary.c_str());
    }

    void quantizersBehind_data()
    {
        QTest::addColumn<QString>("move");
        QTest::addColumn<bool>("told");
        QTest::newRow("reshaped") << "Reshape" << true;
        QTest::newRow("other order") << "Transpose" << false;
        QTest::newRow("read elsewhere") << "read elsewhere" << false;
    }
    /// A range that is too small behind a Reshape which the float file does not have.
    void quantizersBehind()
    {
        QFETCH(QString, move);
        QFETCH(bool, told);
        const Comparison c = compared(moved(false, {}), moved(true, move.toStdString()), scaled({ 2, 4, 4 }, 1));
        QCOMPARE(rowOf(c, "a").quantizer.has_value(), told);
        QVERIFY2(
            (findingOf(c, Rule::InputMismatch) || findingOf(c, Rule::RangeTooSmall)) == told, qPrintable(rulesOf(c)));
    }

    void coarseBesideActivations_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<float>("inputScale");
        QTest::addColumn<bool>("told");
        QTest::newRow("fine input") << "MatMul" << 0.0002f << true;
        QTest::newRow("coarse input") << "MatMul" << 1.f << false;
        QTest::newRow("transposed convolution") << "ConvTranspose" << 0.0002f << true;
    }
    /// Weights of 4 bits make most of the error though activations have quantizers, too.
    void coarseBesideActivations()
    {
        QFETCH(QString, type);
        QFETCH(float, inputScale);
        QFETCH(bool, told);
        const std::string op = type.toStdString();
        const Shape shape = op == "MatMul" ? Shape { 16, 16 } : Shape { 1, 16, 4, 4 };
        const Comparison c = compared(fewBits(false, op, 0), fewBits(true, op, inputScale), scaled(shape, 1));
        const ActivationRow& y = rowOf(c, "y");
        const double mse = *y.accumulated.rmse * *y.accumulated.rmse;
        QVERIFY(y.noise.weights && (*y.noise.weights > 0.6 * mse) == told);
        const Finding* found = findingOf(c, Rule::WeightsTooCoarse);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        QVERIFY(!found || found->change.kind == RemedyKind::EightBitWeight);
    }

    void foreignQuantizers_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("told");
        QTest::newRow("none") << "" << true;
        QTest::newRow("of another domain") << "TRT_FP8DequantizeLinear" << false;
    }
    /// What reads values of an operator that is not known is not said to be float.
    void foreignQuantizers()
    {
        QFETCH(QString, type);
        QFETCH(bool, told);
        const Comparison c = compared(
            foreignQuantizer({}, {}, false), foreignQuantizer(type.toStdString(), "trt", true), scaled({ 4, 4 }, 1));
        QCOMPARE(findingOf(c, Rule::LeftInFloat) != nullptr, told);
    }
};

QTEST_GUILESS_MAIN(NamedCausesTests)
#include "named_causes_test.moc"
