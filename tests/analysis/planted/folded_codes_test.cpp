// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kChannels = 6, kDepth = 8, kSide = 8;
constexpr float kInputScale = 1.f / 127, kGammaScale = 2.f / 127;
constexpr float kEpsilon = 1e-5f;
const Shape kInput { 1, kDepth, kSide, kSide }, kWeightShape { kChannels, kDepth, 1, 1 };

/// Of a normalization behind a convolution.
struct Normalization {
    std::vector<float> gamma = uniform(kChannels, 7, 0.3f, 2), beta = uniform(kChannels, 8, -0.2f, 0.2f);
    std::vector<float> mean = uniform(kChannels, 9, -2, 2), variance = uniform(kChannels, 10, 0.5f, 2);
    float factor(size_t c) const { return gamma[c] / std::sqrt(variance[c] + kEpsilon); }
};

std::vector<float> ownWeight() { return uniform(size_t(kChannels * kDepth), 5); }

std::vector<float> foldedWeight(const Normalization& n)
{
    std::vector<float> w = ownWeight();
    for (size_t i = 0; i < w.size(); ++i)
        w[i] *= n.factor(i / size_t(kDepth));
    return w;
}

std::vector<float> foldedBias(const Normalization& n)
{
    std::vector<float> b;
    for (size_t c = 0; c < n.beta.size(); ++c)
        b.push_back(n.beta[c] - n.mean[c] * n.factor(c));
    return b;
}

Tensor perChannel(const std::vector<float>& values) { return Tensor::of<float>({ kChannels }, values); }

float largest(const std::vector<float>& values)
{
    float most = 0;
    for (const float v : values)
        most = std::max(most, std::fabs(v));
    return most;
}

float addWeight(SmallModel& m, const std::vector<float>& w)
{
    const float scale = largest(w) / 127;
    m.weight("w", kWeightShape, symmetricCodes(w, { scale }), { scale });
    return scale;
}

void addBias(SmallModel& m, const std::string& name, const std::vector<float>& values, float scale)
{
    std::vector<int32_t> codes;
    for (const float v : values)
        codes.push_back(int32_t(std::lround(v / scale)));
    m.constant(name + "_codes", Tensor::of<int32_t>({ kChannels }, codes))
        .constant(name + "_scale", Tensor::scalar(scale))
        .node("DequantizeLinear", { name + "_codes", name + "_scale" }, { name });
}

void addNormalization(SmallModel& m, const Normalization& n, const std::string& in, const std::string& out)
{
    m.constant("mean", perChannel(n.mean)).constant("variance", perChannel(n.variance));
    m.node("BatchNormalization", { in, "gamma", "beta", "mean", "variance" }, { out });
}

/// A convolution that has taken the normalization in.
Prepared foldedFile()
{
    const Normalization n;
    SmallModel m("f");
    m.input("x", kInput).constant("v", Tensor::of<float>(kWeightShape, foldedWeight(n)));
    m.constant("b", perChannel(foldedBias(n))).node("Conv", { "x", "v", "b" }, { "p" });
    return m.node("Relu", { "p" }, { "y" }).output("y").finish();
}

/// The normalization stands behind it, its scale and bias in codes. `kept`: of its bias; `factor`: of the weight.
Prepared normalizedOnCodes(float kept, float factor)
{
    Normalization n;
    std::vector<float> w = ownWeight();
    for (float& v : w)
        v *= factor;
    SmallModel m("q");
    m.input("x", kInput).qdq<int8_t>("x", "x_dq", kInputScale, 0);
    const float scale = addWeight(m, w);
    m.weight("gamma", { kChannels }, symmetricCodes(n.gamma, { kGammaScale }), { kGammaScale });
    for (float& b : n.beta)
        b *= kept;
    addBias(m, "beta", n.beta, scale * kGammaScale);
    m.node("Conv", { "x_dq", "w" }, { "c" }).qdq<int8_t>("c", "c_dq", 4.f / 127, 0);
    addNormalization(m, n, "c_dq", "p");
    return m.node("Relu", { "p" }, { "y" }).output("y").finish();
}

/// One weight, called twice; `copies`: the normalization is taken in, and each call has a bias of its own.
Prepared twice(bool copies)
{
    const Normalization n;
    SmallModel m(copies ? "q" : "f");
    m.input("x", kInput);
    if (copies) {
        const float scale = addWeight(m, foldedWeight(n));
        for (const std::string call : { "x", "z" }) {
            if (call == "z")
                m.node("Tanh", { "x" }, { "z" });
            const float in = call == "x" ? kInputScale : 0.8f / 127;
            m.qdq<int8_t>(call, call + "_dq", in, 0);
            addBias(m, call + "_bias", foldedBias(n), in * scale);
            m.node("Conv", { call + "_dq", "w", call + "_bias" }, { call + "_n" });
        }
    } else {
        m.constant("w", Tensor::of<float>(kWeightShape, ownWeight()));
        m.constant("gamma", perChannel(n.gamma)).constant("beta", perChannel(n.beta)).node("Tanh", { "x" }, { "z" });
        for (const std::string call : { "x", "z" }) {
            m.node("Conv", { call, "w" }, { call + "_c" });
            addNormalization(m, n, call + "_c", call + "_n");
        }
    }
    m.node("Relu", { "x_n" }, { "x_r" }).node("Relu", { "z_n" }, { "z_r" });
    return m.node("Sub", { "x_r", "z_r" }, { "y" }).output("y").finish();
}

/// All of the input lies one higher in the quantized file, and its bias makes up for that.
Prepared shifted(bool codes)
{
    const std::vector<float> w = ownWeight();
    std::vector<float> b = uniform(kChannels, 8);
    SmallModel m(codes ? "q" : "f");
    m.input("x", kInput);
    if (!codes) {
        m.constant("w", Tensor::of<float>(kWeightShape, w)).constant("b", perChannel(b));
        return m.node("Conv", { "x", "w", "b" }, { "y" }).output("y").finish();
    }
    for (size_t i = 0; i < w.size(); ++i)
        b[i / size_t(kDepth)] -= w[i];
    m.constant("one", Tensor::scalar(1.f)).node("Add", { "x", "one" }, { "z" });
    m.qdq<int8_t>("z", "z_dq", 2.f / 127, 0);
    addBias(m, "b", b, addWeight(m, w) * 2.f / 127);
    return m.node("Conv", { "z_dq", "w", "b" }, { "y" }).output("y").finish();
}

/// A convolution whose weight has a scale a channel; `again`: behind an Identity it is rounded again, by one scale.
Prepared roundedAgain(bool codes, bool again)
{
    std::vector<float> w = ownWeight();
    std::vector<float> scales(size_t(kChannels), 0);
    for (size_t i = 0; i < w.size(); ++i) {
        const size_t c = i / size_t(kDepth);
        w[i] *= float(c + 1);
        scales[c] = std::max(scales[c], std::fabs(w[i]) / 127);
    }
    SmallModel m(codes ? "q" : "f");
    m.input("x", kInput);
    if (!codes) {
        m.constant("w", Tensor::of<float>(kWeightShape, w));
        return m.node("Conv", { "x", "w" }, { "y" }).output("y").finish();
    }
    m.qdq<int8_t>("x", "x_dq", kInputScale, 0).weight("w", kWeightShape, symmetricCodes(w, scales), scales);
    if (again)
        m.node("Identity", { "w" }, { "v" }).qdq<int8_t>("v", "v_dq", largest(w) / 127, 0);
    return m.node("Conv", { "x_dq", again ? "v_dq" : "w" }, { "y" }).output("y").finish();
}

Comparison proved(const Prepared& f, const Prepared& q)
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>(kInput, uniform(size_t(kDepth * kSide * kSide), 3)) });
    auto result = compareModels(pairOf(f, q), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

} // namespace

/// Constants that one file has folded, and the other stores as codes or shares between calls.
class FoldedCodesTests : public QObject {
    Q_OBJECT

private slots:
    void healthy_data()
    {
        QTest::addColumn<bool>("shared");
        QTest::newRow("a normalization in codes") << false;
        QTest::newRow("a weight of two calls") << true;
    }
    void healthy()
    {
        QFETCH(bool, shared);
        const Comparison c = shared ? proved(twice(false), twice(true)) : proved(foldedFile(), normalizedOnCodes(1, 1));
        QVERIFY2(c.network && c.network->known() && c.network->same(), qPrintable(rulesOf(c)));
        QVERIFY(!c.network->storedWeights);
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer) && !findingOf(c, Rule::WrongBiasScale), qPrintable(rulesOf(c)));
        constexpr double kGoodDb = 38;
        for (const WeightRow& row : c.weights)
            QVERIFY2(row.similarity.sqnrDb.value_or(kGoodDb) >= kGoodDb, row.name.c_str());
        QVERIFY(std::ranges::count(c.weights, true, &WeightRow::bias) > 0);
    }

    void quantizedTwice()
    {
        const Comparison c = proved(roundedAgain(false, true), roundedAgain(true, true));
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(
            f && f->cause == "twice" && f->title.find("quantized twice") != std::string::npos, qPrintable(rulesOf(c)));
        const Comparison once = proved(roundedAgain(false, false), roundedAgain(true, false));
        QVERIFY2(!findingOf(once, Rule::WeightsDiffer), qPrintable(rulesOf(once)));
    }

    /// What the float model's bias would make wrong is no wrong bias.
    void makesUp()
    {
        const Comparison c = proved(shifted(false), shifted(true));
        QVERIFY2(c.network && c.network->same() && c.network->rearranged, qPrintable(rulesOf(c)));
        QVERIFY2(std::ranges::all_of(c.findings, [](const Finding& f) { return f.severity == Severity::Note; }),
            qPrintable(rulesOf(c)));
    }

    /// What the rounding of its scale does not explain.
    void destroyed()
    {
        const Comparison bias = proved(foldedFile(), normalizedOnCodes(-9, 1));
        QVERIFY2(findingOf(bias, Rule::WrongBiasScale), qPrintable(rulesOf(bias)));
        QVERIFY2(!findingOf(bias, Rule::WeightsDiffer), qPrintable(rulesOf(bias)));
        const Comparison weight = proved(foldedFile(), normalizedOnCodes(1, 1.3f));
        QVERIFY2(findingOf(weight, Rule::WeightsDiffer), qPrintable(rulesOf(weight)));
    }
};

QTEST_GUILESS_MAIN(FoldedCodesTests)
#include "folded_codes_test.moc"
