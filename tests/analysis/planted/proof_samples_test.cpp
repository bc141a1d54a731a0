// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/twin_constants.h"
#include "core/analysis/rules/findings.h"
#include "core/quant/params/weights.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

/// Faults that single samples show, and what rounding may explain of them.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kRows = 2, kLength = 8, kOutputs = 40;
constexpr int64_t kToFloat32 = 1, kToFloat16 = 10;

/// Samples of several inputs.
class SeveralInputs final : public DataSource {
public:
    explicit SeveralInputs(std::vector<std::vector<Tensor>> samples)
        : m_inputs(std::move(samples))
    {
        m_samples = m_feeds = m_inputs.size();
    }
    Result<Feed> feed(size_t index) const override { return Feed { m_inputs[index], index, 1 }; }

private:
    std::vector<std::vector<Tensor>> m_inputs;
};

enum class Form { Float, Half, Codes };

struct Attention {
    float mask = -10000; ///< what is added where there is padding
    float factor = 2; ///< of the scores
    Form form = Form::Float;
};

/// x, mask -> scores -> Softmax -> MatMul -> y
Prepared attention(const Attention& a)
{
    const bool half = a.form == Form::Half;
    const auto type = half ? DType::Float16 : DType::Float32;
    const auto real = [&](const Shape& shape, const std::vector<float>& v) { return realTensor(type, shape, v); };
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kRows, kLength }).input("mask", { kRows, kLength });
    m.constant("one", real({}, { 1 })).constant("far", real({}, { a.mask })).constant("factor", real({}, { a.factor }));
    m.constant("v", real({ kLength, kOutputs }, uniform(size_t(kLength * kOutputs), 3)));
    if (half)
        m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } })
            .node("Cast", { "mask" }, { "maskh" }, { { "to", kToFloat16 } });
    m.node("Sub", { "one", half ? "maskh" : "mask" }, { "padding" }).node("Mul", { "padding", "far" }, { "added" });
    m.node("Mul", { half ? "xh" : "x", "factor" }, { "scores" }).node("Add", { "scores", "added" }, { "s" });
    m.node("Softmax", { "s" }, { "p" });
    if (a.form == Form::Float)
        return m.node("MatMul", { "p", "v" }, { "y" }).output("y").finish();
    m.node("MatMul", { "p", "v" }, { "t" });
    if (half)
        return m.node("Cast", { "t" }, { "y" }, { { "to", kToFloat32 } }).output("y").finish();
    constexpr float kCoarse = 0.4f;
    return m.qdq<int8_t>("t", "y", kCoarse, 0).output("y").finish();
}

/// So many samples; one of them has padding.
SeveralInputs padded(size_t samples, size_t at)
{
    std::vector<std::vector<Tensor>> all;
    for (size_t i = 0; i < samples; ++i) {
        std::vector<float> mask(kRows * kLength, 1);
        for (size_t k = 0; i == at && k < kLength / 2; ++k)
            mask[k] = 0;
        all.push_back({ Tensor::of<float>({ kRows, kLength }, uniform(kRows * kLength, uint32_t(10 + i))),
            Tensor::of<float>({ kRows, kLength }, mask) });
    }
    return SeveralInputs(std::move(all));
}

Comparison provedOn(const Prepared& f, const Prepared& q, const DataSource& data)
{
    CompareOptions options;
    options.prove = true;
    auto result = compareModels(pairOf(f, q), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

/// Two products; the first goes beyond float16 where x is large.
Prepared products(bool half)
{
    const auto type = half ? DType::Float16 : DType::Float32;
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kLength });
    m.constant("c", realTensor(type, {}, std::vector<float> { 30000.f }));
    m.constant("d", realTensor(type, {}, std::vector<float> { 0.0001f }));
    if (!half)
        return m.node("Mul", { "x", "c" }, { "a" }).node("Mul", { "a", "d" }, { "y" }).output("y").finish();
    m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } }).node("Mul", { "xh", "c" }, { "a" });
    m.node("Mul", { "a", "d" }, { "yh" });
    return m.node("Cast", { "yh" }, { "y" }, { { "to", kToFloat32 } }).output("y").finish();
}

/// An angle of which float16 leaves nothing but where it holds it exactly -> its sine -> a function -> y
Prepared steep(bool half, const char* function)
{
    constexpr float kSteep = 1000;
    const auto type = half ? DType::Float16 : DType::Float32;
    SmallModel m(half ? "half" : "whole");
    m.input("x", { kLength }).constant("c", realTensor(type, {}, std::vector<float> { kSteep }));
    if (half)
        m.node("Cast", { "x" }, { "xh" }, { { "to", kToFloat16 } });
    m.node("Mul", { half ? "xh" : "x", "c" }, { "a" }).node("Sin", { "a" }, { half ? "yh" : "b" });
    if (half)
        m.node("Cast", { "yh" }, { "b" }, { { "to", kToFloat32 } });
    return m.node(function, { "b" }, { "y" }).output("y").finish();
}

} // namespace

class ProofSamplesTest : public QObject {
    Q_OBJECT
private slots:
    void padding_data()
    {
        QTest::addColumn<bool>("codes");
        QTest::addColumn<int>("at");
        for (const bool codes : { false, true })
            for (const int at : { 0, 1, 4 })
                QTest::addRow("%s, padding in sample %d", codes ? "codes" : "no quantizers", at) << codes << at;
    }
    /// Whatever is done to padding is seen on a sample that has some.
    void padding()
    {
        QFETCH(bool, codes);
        QFETCH(int, at);
        constexpr size_t kSamples = 6;
        const Form form = codes ? Form::Codes : Form::Float;
        const auto data = padded(kSamples, size_t(at));
        const Comparison same = provedOn(attention({}), attention({ .form = form }), data);
        QVERIFY2(same.network && same.network->same(), qPrintable(rulesOf(same)));
        const Comparison other = provedOn(attention({}), attention({ .mask = -1, .form = form }), data);
        QVERIFY(other.network && other.network->known() && !other.network->same());
        QCOMPARE(other.network->distance.sample, uint64_t(at));
        QVERIFY2(findingOf(other, Rule::ModelsDiffer), qPrintable(rulesOf(other)));
    }

    /// Beyond float16 on a sample that is not the first.
    void overflow()
    {
        std::vector<Tensor> samples;
        for (const float factor : { 0.5f, 0.6f, 3.f, 0.4f }) {
            std::vector<float> x = uniform(kLength, 7);
            for (float& v : x)
                v *= factor;
            samples.push_back(Tensor::of<float>({ kLength }, x));
        }
        const Comparison c = provedOn(products(false), products(true), FixedData(samples));
        const Finding* found = findingOf(c, Rule::ValueOverflows);
        QVERIFY2(found && found->summary.find("sample 2") != std::string::npos, qPrintable(rulesOf(c)));
        QVERIFY(c.network && !c.network->same());
    }

    void maskConstants_data()
    {
        QTest::addColumn<float>("mask");
        QTest::newRow("a few scores") << -30.f;
        QTest::newRow("as BERT has it") << -10000.f;
        QTest::newRow("nearly the end of float16") << -65504.f;
    }
    /// Ones of a mask are exact in float16: no error of them, times the constant, is what rounding explains.
    void maskConstants()
    {
        QFETCH(float, mask);
        const auto data = padded(2, 1);
        const Prepared f = attention({ .mask = mask });
        const Comparison same = provedOn(f, attention({ .mask = mask, .form = Form::Half }), data);
        QVERIFY2(same.network && same.network->same(), qPrintable(rulesOf(same)));
        constexpr double kNarrow = 0.01;
        QVERIFY2(
            same.network->distance.tolerance < kNarrow, qPrintable(QString::number(same.network->distance.tolerance)));
        const Comparison other = provedOn(f, attention({ .mask = mask, .factor = 1.9f, .form = Form::Half }), data);
        QVERIFY2(other.network && other.network->known() && !other.network->same(), qPrintable(rulesOf(other)));
    }

    /// Codes that no pair tells of are known by name, or by what they were made of.
    void constantsWithoutAPair()
    {
        const Shape shape { kLength, kOutputs };
        const std::vector<float> w = uniform(size_t(kLength * kOutputs), 3);
        std::vector<float> close = w;
        constexpr float kStep = 1.f / 127;
        for (float& v : close) // a hair further from the codes
            v -= std::copysign(0.005f * kStep, std::nearbyint(v / kStep) * kStep - v);
        SmallModel model("f");
        model.input("x", { kRows, kLength }).constant("a", Tensor::of<float>(shape, w));
        model.constant("b", Tensor::of<float>(shape, close)).node("MatMul", { "x", "a" }, { "s" });
        const Prepared f
            = model.node("MatMul", { "x", "b" }, { "t" }).node("Add", { "s", "t" }, { "y" }).output("y").finish();
        const auto named = [&](const Tensor* t, const char* name) { return t == f.plan->constant(f.value(name)); };
        const QuantParams params { DType::Int8, { kStep }, { 0 }, std::nullopt, 0 };
        const Tensor codes = Tensor::of<int8_t>(shape, symmetricCodes(w, { kStep }));
        QVERIFY(named(twinConstant(*f.plan, "b_quantized", codes, params), "b"));
        QVERIFY(named(twinConstant(*f.plan, "other", codes, params), "a"));
        std::vector<float> turned = w;
        std::ranges::reverse(turned);
        const Tensor others = Tensor::of<int8_t>(shape, symmetricCodes(turned, { kStep }));
        QVERIFY(!twinConstant(*f.plan, "a_quantized", others, params));
    }

    /// Where rounding may do anything on one sample, another one shows that the files are the same, and that alone.
    void saysWhichSamplesShowNothing()
    {
        const Tensor exact = Tensor::of<float>({ kLength }, std::vector<float> { 1, 2, 1, 1.5f, 2, 0.5f, 1.5f, 0.25f });
        const FixedData data({ exact, Tensor::of<float>({ kLength }, uniform(kLength, 5)) });
        const Comparison c = provedOn(steep(false, "Tanh"), steep(true, "Tanh"), data);
        QVERIFY2(c.network && c.network->same(), qPrintable(rulesOf(c)));
        QCOMPARE(c.network->distance.silent, std::vector<uint64_t> { 1 });
    }

    /// Where rounding may do anything, nothing is shown.
    void hidesAll()
    {
        const FixedData data({ Tensor::of<float>({ kLength }, uniform(kLength, 5)) });
        const Comparison c = provedOn(steep(false, "Tanh"), steep(true, "Atan"), data);
        QVERIFY(c.network && !c.network->known());
        QVERIFY2(c.network->reason.find("hides") != std::string::npos, c.network->reason.c_str());
    }
};

QTEST_GUILESS_MAIN(ProofSamplesTest)
#include "proof_samples_test.moc"
