// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/weights.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

/// What float16 does to masks, to large and small numbers, and where files part beside it.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kRows = 4, kLength = 8, kColumns = 70;
constexpr int64_t kToFloat32 = 1, kToFloat16 = 10;
constexpr float kLowest = -3.4e38f, kLowestHalf = -65504;

Comparison provedOn(const Prepared& f, const Prepared& q, const DataSource& data)
{
    CompareOptions options;
    options.prove = true;
    auto result = compareModels(pairOf(f, q), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

struct Masked {
    bool half = false;
    bool squares = false; ///< behind the attention, in place of an Elu
    float factor = 1; ///< behind that
    bool bias = false; ///< the mask is added to a bias before
};

/// Where x is below -0.5, nothing comes through a Softmax. x -> + mask -> Softmax -> MatMul -> Elu -> Mul -> Mul -> y
Prepared masked(const Masked& o)
{
    const auto type = o.half ? DType::Float16 : DType::Float32;
    const auto real = [&](const Shape& shape, const std::vector<float>& v) { return realTensor(type, shape, v); };
    SmallModel m(o.half ? "half" : "whole");
    m.input("x", { kRows, kLength }).constant("edge", Tensor::scalar(-0.5f));
    m.constant("none", real({}, { 0 })).constant("far", real({}, { o.half ? kLowestHalf : kLowest }));
    m.constant("v", real({ kLength, kColumns }, uniform(size_t(kLength * kColumns), 3, -8, 8)));
    m.constant("bias", real({ kLength }, uniform(size_t(kLength), 4)));
    m.constant("factor", real({}, { o.factor })).constant("back", real({}, { 1 / o.factor }));
    m.node("Less", { "x", "edge" }, { "hidden" }).node("Where", { "hidden", "far", "none" }, { "mask" });
    if (o.bias)
        m.node("Add", { "mask", "bias" }, { "added" });
    if (o.half)
        m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } });
    m.node("Add", { o.half ? "xh" : "x", o.bias ? "added" : "mask" }, { "s" }).node("Softmax", { "s" }, { "p" });
    m.node("MatMul", { "p", "v" }, { "t" });
    if (o.squares)
        m.node("Mul", { "t", "t" }, { "e" });
    else
        m.node("Elu", { "t" }, { "e" });
    m.node("Mul", { "e", "factor" }, { "large" }).node("Mul", { "large", "back" }, { o.half ? "yh" : "y" });
    if (o.half)
        m.node("Cast", { "yh" }, { "y" }, { { "to", kToFloat32 } });
    return m.output("y").finish();
}

const FixedData kMaskedData({ Tensor::of<float>({ kRows, kLength }, uniform(kRows* kLength, 11)) });

/// x -> Elu -> y, in one file by way of a shape.
Prepared reshaped(bool byShape, float alpha)
{
    SmallModel m("r");
    m.input("x", { kRows, kLength });
    if (!byShape)
        return m.node("Elu", { "x" }, { "r" }, { { "alpha", alpha } })
            .node("Neg", { "r" }, { "y" })
            .output("y")
            .finish();
    m.constant("rest", Tensor::of<int64_t>({ 1 }, { -1 })).constant("first", Tensor::of<int64_t>({ 1 }, { 0 }));
    m.node("Shape", { "x" }, { "shape" }).node("Gather", { "shape", "first" }, { "rows" });
    m.node("Concat", { "rows", "rest" }, { "sizes" }, { { "axis", int64_t(0) } });
    m.node("Mul", { "x", "x" }, { "square" }).node("Sub", { "square", "x" }, { "off" });
    m.node("Add", { "off", "x" }, { "a" }).node("Reshape", { "a", "sizes" }, { "r" });
    return m.node("Neg", { "r" }, { "y" }).output("y").finish();
}

/// x -> Mul -> large -> Abs -> n -> Mul -> y, all of it in float32; in the other file each value is cast to float16 and
/// back, as converters leave it between nodes that they are told to keep.
Prepared castBetween(bool half, float factor)
{
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kRows, kLength }).constant("factor", Tensor::scalar(factor));
    m.constant("back", Tensor::scalar(1 / factor));
    const auto stored = [&](const std::string& value) {
        if (!half)
            return value;
        m.node("Cast", { value }, { value + "_half" }, { { "to", kToFloat16 } });
        m.node("Cast", { value + "_half" }, { value + "_whole" }, { { "to", kToFloat32 } });
        return value + "_whole";
    };
    m.node("Mul", { stored("x"), "factor" }, { "large" }).node("Abs", { stored("large") }, { "n" });
    return m.node("Mul", { stored("n"), "back" }, { "y" }).output("y").finish();
}

/// x -> MatMul -> Mul -> y; the weight is so small, and the factor undoes it.
Prepared shrunk(bool half, float size)
{
    const auto type = half ? DType::Float16 : DType::Float32;
    std::vector<float> w = uniform(size_t(kLength * kColumns), 5);
    for (float& v : w)
        v *= size;
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kRows, kLength }).constant("w", realTensor(type, { kLength, kColumns }, w));
    m.constant("back", realTensor(type, {}, std::vector<float> { std::min(1 / size, 60000.f) }));
    if (half)
        m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } });
    m.node("MatMul", { half ? "xh" : "x", "w" }, { "m" }).node("Mul", { "m", "back" }, { half ? "yh" : "y" });
    if (half)
        m.node("Cast", { "yh" }, { "y" }, { { "to", kToFloat32 } });
    return m.output("y").finish();
}

/// A sum of products, one number.
Prepared oneNumber(bool half, float alpha)
{
    const auto type = half ? DType::Float16 : DType::Float32;
    SmallModel m(half ? "half" : "whole");
    m.input("x", { 1, kLength }).constant("w", realTensor(type, { kLength, 1 }, uniform(size_t(kLength), 6)));
    if (half)
        m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } });
    m.node("Elu", { half ? "xh" : "x" }, { "e" }, { { "alpha", alpha } });
    m.node("MatMul", { "e", "w" }, { half ? "yh" : "y" });
    if (half)
        m.node("Cast", { "yh" }, { "y" }, { { "to", kToFloat32 } });
    return m.output("y").finish();
}

/// Positive numbers of which one makes the sum as good as zero where `cancels`.
Tensor summed(uint32_t seed, bool cancels)
{
    const std::vector<float> w = uniform(size_t(kLength), 6);
    std::vector<float> x = uniform(size_t(kLength), seed, 0.5f, 1);
    size_t last = 0;
    for (size_t i = 0; i < x.size(); ++i)
        if (std::abs(w[i]) > std::abs(w[last]))
            last = i;
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
        sum += i == last ? 0 : double(w[i]) * x[i];
    if (cancels)
        x[last] = float((1e-4 - sum) / w[last]);
    return Tensor::of<float>({ 1, kLength }, x);
}

/// A mask with a range of its own in the quantized file, that the float model does without.
Prepared selected(bool codes, float low)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kLength }).constant("edge", Tensor::scalar(-0.5f)).constant("low", Tensor::scalar(low));
    m.constant("none", Tensor::scalar(0.f)).node("Less", { "x", "edge" }, { "hidden" });
    if (codes) {
        m.node("Where", { "hidden", "low", "none" }, { "penalty" })
            .qdq<uint8_t>("penalty", "penalty_dq", -low / 255, 255);
        m.node("Add", { "x", "penalty_dq" }, { "s" });
    } else {
        m.node("Where", { "hidden", "low", "x" }, { "s" });
    }
    return m.node("Softmax", { "s" }, { "p" }).node("Neg", { "p" }, { "y" }).output("y").finish();
}

} // namespace
Q_DECLARE_METATYPE(Masked)

class Float16CausesTest : public QObject {
    Q_OBJECT
private slots:
    void masks_data()
    {
        QTest::addColumn<Masked>("other");
        QTest::addColumn<QString>("place"); // empty: the files are the same
        QTest::addColumn<bool>("overflows");
        QTest::newRow("the mask alone") << Masked { .half = true } << QString() << false;
        QTest::newRow("another function behind it") << Masked { .half = true, .squares = true } << "e" << false;
        QTest::newRow("the mask is added to a bias")
            << Masked { .half = true, .squares = true, .bias = true } << "e" << false;
        QTest::newRow("numbers overflow behind it") << Masked { .half = true, .factor = 6e4f } << "large" << true;
    }
    /// The lowest numbers of two types mask alike: files do not part there.
    void masks()
    {
        QFETCH(Masked, other);
        QFETCH(QString, place);
        QFETCH(bool, overflows);
        const Masked own { .factor = other.factor, .bias = other.bias };
        const Comparison c = provedOn(masked(own), masked(other), kMaskedData);
        const Finding* f = findingOf(c, overflows ? Rule::ValueOverflows : Rule::ModelsDiffer);
        QVERIFY2((f != nullptr) == !place.isEmpty(), qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(QString::fromStdString(f->tensor), place);
        if (overflows) // who runs it on a CPU sees no infinities
            QVERIFY2(f->summary.find("On a CPU ONNX Runtime") != std::string::npos, f->summary.c_str());
    }

    void castsBetween_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<bool>("overflows");
        QTest::newRow("float16 holds it") << 1e3f << false;
        QTest::newRow("it overflows in the Cast") << 1e6f << true;
    }
    /// Nodes in float32, between which a Cast makes numbers infinite: that, and no other network.
    void castsBetween()
    {
        QFETCH(float, factor);
        QFETCH(bool, overflows);
        const Comparison c = provedOn(castBetween(false, factor), castBetween(true, factor), kMaskedData);
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::ValueOverflows);
        QVERIFY2((f != nullptr) == overflows, qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(QString::fromStdString(f->tensor), QStringLiteral("large"));
        QCOMPARE(QString::fromStdString(f->node), QStringLiteral("n_large"));
        QVERIFY2(f->summary.find("'n_large_half'") != std::string::npos, f->summary.c_str());
    }

    void shapesDoNotPart_data()
    {
        QTest::addColumn<float>("alpha");
        QTest::newRow("another function") << 0.3f;
    }
    void shapesDoNotPart()
    {
        QFETCH(float, alpha);
        const Comparison c = provedOn(reshaped(true, alpha), reshaped(false, alpha), kMaskedData);
        const Finding* f = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(f, qPrintable(rulesOf(c)));
        QCOMPARE(QString::fromStdString(f->tensor), QStringLiteral("square")); // the first that has no partner
    }

    void smallWeights_data()
    {
        QTest::addColumn<float>("size");
        QTest::addColumn<bool>("told");
        QTest::newRow("normal numbers") << 1.f << false;
        QTest::newRow("small, but normal") << 1e-3f << false;
        QTest::newRow("below the normal numbers") << 2e-6f << true;
    }
    void smallWeights()
    {
        QFETCH(float, size);
        QFETCH(bool, told);
        const Comparison c = provedOn(shrunk(false, size), shrunk(true, size), kMaskedData);
        const auto f = std::ranges::find(c.findings, "underflow", &Finding::cause);
        QVERIFY2((f != c.findings.end()) == told, qPrintable(rulesOf(c)));
        if (told) {
            QCOMPARE(f->rule, Rule::WeightsDiffer);
            QCOMPARE(f->node, std::string("n_m"));
            QCOMPARE(f->tensor, std::string("w"));
        }
    }

    void samplesThatHide_data()
    {
        QTest::addColumn<int>("at");
        QTest::addColumn<float>("alpha");
        QTest::addColumn<bool>("same");
        QTest::newRow("none, same") << -1 << 1.f << true;
        QTest::newRow("the first, same") << 0 << 1.f << true;
        QTest::newRow("the third, same") << 2 << 1.f << true;
        QTest::newRow("the third, other") << 2 << 0.1f << false;
    }
    /// A sum that is nearly zero tells nothing of rounding, where others do.
    void samplesThatHide()
    {
        QFETCH(int, at);
        QFETCH(float, alpha);
        QFETCH(bool, same);
        std::vector<Tensor> samples;
        for (int i = 0; i < 4; ++i) {
            Tensor sample = summed(uint32_t(20 + i), i == at);
            if (!same) {
                std::vector<float> x(sample.data<float>().begin(), sample.data<float>().end());
                x[1] = -1;
                sample = Tensor::of<float>({ 1, kLength }, x);
            }
            samples.push_back(sample);
        }
        const Comparison c = provedOn(oneNumber(false, 1), oneNumber(true, alpha), FixedData(samples));
        QVERIFY2(c.network && c.network->known(), c.network ? c.network->reason.c_str() : "");
        QCOMPARE(c.network->same(), same);
    }

    void extremesWithoutPartner_data()
    {
        QTest::addColumn<float>("low");
        QTest::addColumn<bool>("told");
        QTest::newRow("-20") << -20.f << false;
        QTest::newRow("-1e9") << -1e9f << true;
        QTest::newRow("-3.4e38") << kLowest << true;
    }
    void extremesWithoutPartner()
    {
        QFETCH(float, low);
        QFETCH(bool, told);
        const Comparison c = provedOn(selected(false, low), selected(true, low), kMaskedData);
        const Finding* f = findingOf(c, Rule::ExtremeConstant);
        QVERIFY2((f != nullptr) == told, qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(QString::fromStdString(f->tensor), QStringLiteral("penalty"));
    }
};

QTEST_GUILESS_MAIN(Float16CausesTest)
#include "float16_causes_test.moc"
