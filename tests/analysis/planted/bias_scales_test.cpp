// SPDX-License-Identifier: GPL-3.0-or-later
// Scales of biases: what they tell of the activation that is multiplied, and whose they are where nodes share codes.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 64, kWidth = 8;

std::vector<int32_t> biasCodes(const std::vector<float>& bias, const std::vector<double>& scales)
{
    std::vector<int32_t> codes;
    for (size_t i = 0; i < bias.size(); ++i)
        codes.push_back(int32_t(std::lround(double(bias[i]) / scales[scales.size() == 1 ? 0 : i])));
    return codes;
}

/// Of one row a channel.
std::vector<float> scalesOf(const std::vector<float>& w, bool perChannel)
{
    std::vector<float> scales(perChannel ? size_t(kWidth) : 1, 1.f / 127);
    for (size_t row = 0; perChannel && row < scales.size(); ++row) {
        float most = 0;
        for (size_t i = 0; i < size_t(kWidth); ++i)
            most = std::max(most, std::fabs(w[row * size_t(kWidth) + i]));
        scales[row] = most / 127;
    }
    return scales;
}

std::vector<int8_t> rowCodes(const std::vector<float>& w, const std::vector<float>& scales)
{
    std::vector<int8_t> codes;
    for (size_t i = 0; i < w.size(); ++i)
        codes.push_back(int8_t(std::lround(w[i] / scales[scales.size() == 1 ? 0 : i / size_t(kWidth)])));
    return codes;
}

/// What is done to the scales of biased().
struct Change {
    float activation = 1; ///< the scale of "a" over that of its data
    float first = 1, second = 1; ///< those of both biases over input x weight scale
    bool perChannel = true;
    bool narrow = false; ///< biases are small enough for int8
    bool fine = false; ///< the activation has 16 bits, and the bias steps below float32's
    float moved = 0; ///< what is added to the second bias in codes
};

/// x -> Neg -> a -> Gemm -> p, and a -> Gemm -> q; each with a bias.
Prepared biased(bool codes, const Change& change = {})
{
    constexpr float kFitting = 2.f / 255; // data from -1 to 1
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "a" });
    const float a = change.activation * kFitting / (change.fine ? 257 : 1);
    if (codes && change.fine)
        m.qdq<uint16_t>("a", "a_dq", a, 32768);
    else if (codes)
        m.qdq<uint8_t>("a", "a_dq", a, 128);
    for (const bool second : { false, true }) {
        const std::string tail = second ? "2" : "1";
        const std::vector<float> w = uniform(size_t(kWidth * kWidth), second ? 6 : 5);
        const float most = change.narrow ? 0.003f : change.fine ? 8.f : 1.f;
        std::vector<float> b = uniform(size_t(kWidth), second ? 8 : 7, -most, most);
        if (codes) {
            std::ranges::for_each(b, [&](float& v) { v += second ? change.moved : 0; });
            const std::vector<float> scales = scalesOf(w, change.perChannel);
            std::vector<double> products;
            std::vector<float> stored;
            for (const float scale : scales) {
                products.push_back(double(scale) * a * (second ? change.second : change.first));
                stored.push_back(float(products.back()));
            }
            m.weight("w" + tail, { kWidth, kWidth }, rowCodes(w, scales), scales);
            const std::vector<int32_t> stored32 = biasCodes(b, products);
            m.constant("b" + tail + "_quantized",
                change.narrow ? Tensor::of<int8_t>({ kWidth }, std::vector<int8_t>(stored32.begin(), stored32.end()))
                              : Tensor::of<int32_t>({ kWidth }, stored32));
            m.constant("b" + tail + "_scale",
                change.perChannel ? Tensor::of<float>({ kWidth }, stored) : Tensor::scalar(stored[0]));
            m.node("DequantizeLinear", { "b" + tail + "_quantized", "b" + tail + "_scale" }, { "b" + tail },
                { { "axis", int64_t(0) } });
        } else {
            m.constant("w" + tail, Tensor::of<float>({ kWidth, kWidth }, w));
            m.constant("b" + tail, Tensor::of<float>({ kWidth }, b));
        }
        m.node("Gemm", { codes ? "a_dq" : "a", "w" + tail, "b" + tail }, { second ? "q" : "p" },
            { { "transB", int64_t(1) } });
    }
    return m.output("p").output("q").finish();
}

/// x and z, each times one weight, plus one bias, whose codes are stored once in the scale of the second product (or of
/// the first).
Prepared sharedBias(bool codes, float firstScale, float secondScale, bool inSecond)
{
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5), b = uniform(size_t(kWidth), 7, 1, 4);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    m.constant("half", Tensor::scalar(0.5f)).node("Neg", { "x" }, { "a" }).node("Mul", { "x", "half" }, { "c" });
    if (!codes) {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w)).constant("b", Tensor::of<float>({ kWidth }, b));
        m.node("Gemm", { "a", "w", "b" }, { "p" }, { { "transB", int64_t(1) } });
        m.node("Gemm", { "c", "w", "b" }, { "q" }, { { "transB", int64_t(1) } });
        return m.output("p").output("q").finish();
    }
    const std::vector<float> scale { 1.f / 127 };
    const double stored = double(inSecond ? secondScale : firstScale) * scale[0];
    m.constant("w_quantized", Tensor::of<int8_t>({ kWidth, kWidth }, rowCodes(w, scale)))
        .constant("w_scale", Tensor::scalar(scale[0]))
        .constant("w_zero_point", Tensor::scalar<int8_t>(0))
        .constant("b_quantized", Tensor::of<int32_t>({ kWidth }, biasCodes(b, { stored })))
        .constant("y_scale", Tensor::scalar(16.f / 255))
        .constant("y_zero_point", Tensor::scalar<uint8_t>(128));
    for (const bool second : { false, true }) {
        const std::string in = second ? "c" : "a", out = second ? "q" : "p";
        m.constant(in + "_scale", Tensor::scalar(second ? secondScale : firstScale))
            .constant(in + "_zero_point", Tensor::scalar<uint8_t>(128))
            .node("QuantizeLinear", { in, in + "_scale", in + "_zero_point" }, { in + "_quantized" });
        m.node("QGemm",
            { in + "_quantized", in + "_scale", in + "_zero_point", "w_quantized", "w_scale", "w_zero_point",
                "b_quantized", "y_scale", "y_zero_point" },
            { out + "_quantized" }, { { "transB", int64_t(1) } }, "com.microsoft");
        m.node("DequantizeLinear", { out + "_quantized", "y_scale", "y_zero_point" }, { out });
    }
    return m.output("p").output("q").finish();
}

FixedData evenData() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, uniform(size_t(kRows * kWidth), 3)) }); }

const Finding* severeOf(const Comparison& c, Rule rule)
{
    const auto at = std::ranges::find_if(
        c.findings, [&](const Finding& f) { return f.rule == rule && f.severity != Severity::Note; });
    return at == c.findings.end() ? nullptr : &*at;
}

/// A product with coarse weights and a bias that is little beside what they round, its codes or zeros in their place;
/// `behind`: it is added behind the product.
Prepared coarse(bool codes, bool zeros, float step, bool behind)
{
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5), b = uniform(size_t(kWidth), 7, 0.02f, 0.05f);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w))
            .constant("b", Tensor::of<float>({ kWidth }, b))
            .node("Gemm", { "x", "w", "b" }, { "p" }, { { "transB", int64_t(1) } })
            .output("p")
            .finish();
    m.weight("w", { kWidth, kWidth }, rowCodes(w, { 1.f / 7 }), { 1.f / 7 });
    m.constant("b_quantized",
        Tensor::of<int32_t>({ kWidth }, zeros ? std::vector<int32_t>(size_t(kWidth)) : biasCodes(b, { step })));
    m.constant("b_scale", Tensor::scalar(step)).node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" });
    m.node("Gemm", { "x", "w", "b" }, { behind ? "sums" : "p" }, { { "transB", int64_t(1) } });
    if (behind)
        m.constant("added", Tensor::of<float>({ kWidth }, b)).node("Add", { "sums", "added" }, { "p" });
    return m.output("p").finish();
}

/// What is stored in place of a bias.
enum class Stored { Own, Permuted, Another, Corrected, Lost };

/// x -> product -> bias -> y, with weights of coarse steps and a bias that is little beside what is rounded; `split`:
/// the float model adds the bias by a node of its own, `image`: to the second axis; `added`: both do, the other one in
/// codes of 8 bits.
Prepared shifted(bool codes, Stored stored, bool split, bool image, bool added = false)
{
    constexpr float kStep = 1.f / 31, kBiasStep = 1e-4f, kAddedStep = 0.002f;
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5);
    std::vector<float> b = uniform(size_t(kWidth), 7, -0.1f, 0.1f);
    const Shape shape = image ? Shape { kWidth, kWidth, 1, 1 } : Shape { kWidth, kWidth };
    SmallModel m(codes ? "q" : "f");
    m.input("x", image ? Shape { 1, kWidth, kRows, 1 } : Shape { kRows, kWidth });
    const std::vector<int8_t> rounded = rowCodes(w, { kStep });
    if (stored == Stored::Permuted)
        std::ranges::rotate(b, b.begin() + 1);
    for (size_t row = 0; row < b.size(); ++row)
        for (size_t i = 0; stored == Stored::Corrected && i < b.size(); ++i) // inputs have a mean of a half
            b[row] -= 0.5f * (float(rounded[row * b.size() + i]) * kStep - w[row * b.size() + i]);
    for (size_t row = 0; row < b.size(); ++row)
        b[row] += stored == Stored::Another ? row % 2 ? 0.05f : -0.05f : 0.f;
    if (!codes)
        m.constant("w", Tensor::of<float>(shape, w));
    else
        m.weight("w", shape, rounded, { kStep });
    const bool apart = added || (split && !codes);
    const Shape along = apart && image ? Shape { kWidth, 1, 1 } : Shape { kWidth };
    if (!codes)
        m.constant("b", Tensor::of<float>(along, b));
    else if (added)
        m.weight("b", along, rowCodes(b, { kAddedStep }), { kAddedStep });
    else
        m.constant("b_quantized", Tensor::of<int32_t>(along, biasCodes(b, { kBiasStep })))
            .constant("b_scale", Tensor::scalar(kBiasStep))
            .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" });
    std::vector<std::string> inputs { "x", "w" };
    if (!apart)
        inputs.emplace_back("b");
    if (image)
        m.node("Conv", inputs, { apart ? "sums" : "y" });
    else
        m.node("Gemm", inputs, { apart ? "sums" : "y" }, { { "transB", int64_t(1) } });
    if (apart)
        m.node("Add", { "sums", "b" }, { "y" });
    return m.output("y").finish();
}

/// The same with a Relu behind it, in the quantized file by what the codes of one operator hold.
Prepared shiftedOperator(bool codes, Stored stored)
{
    constexpr float kStep = 1.f / 127, kInput = 1.f / 255, kBiasStep = kInput * kStep;
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5);
    std::vector<float> b = uniform(size_t(kWidth), 7);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, kWidth, kRows, 1 });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kWidth, kWidth, 1, 1 }, w))
            .constant("b", Tensor::of<float>({ kWidth }, b))
            .node("Conv", { "x", "w", "b" }, { "p" })
            .node("Relu", { "p" }, { "y" })
            .output("y")
            .finish();
    if (stored == Stored::Permuted)
        std::ranges::rotate(b, b.begin() + 1);
    for (size_t row = 0; row < b.size(); ++row)
        b[row] = stored == Stored::Lost ? 0 : b[row] + (stored == Stored::Another ? row % 2 ? 0.2f : -0.2f : 0.f);
    m.constant("w_quantized", Tensor::of<int8_t>({ kWidth, kWidth, 1, 1 }, rowCodes(w, { kStep })))
        .constant("w_scale", Tensor::scalar(kStep))
        .constant("w_zero_point", Tensor::scalar<int8_t>(0))
        .constant("b_quantized", Tensor::of<int32_t>({ kWidth }, biasCodes(b, { kBiasStep })))
        .constant("x_scale", Tensor::scalar(kInput))
        .constant("y_scale", Tensor::scalar(6.f / 255))
        .constant("zero_point", Tensor::scalar<uint8_t>(0));
    m.node("QuantizeLinear", { "x", "x_scale", "zero_point" }, { "x_quantized" });
    m.node("QLinearConv",
        { "x_quantized", "x_scale", "zero_point", "w_quantized", "w_scale", "w_zero_point", "y_scale", "zero_point",
            "b_quantized" },
        { "y_quantized" });
    return m.node("DequantizeLinear", { "y_quantized", "y_scale", "zero_point" }, { "y" }).output("y").finish();
}

/// One number a channel in one scale, the first far larger than the others: what is added to an image, or the biases of
/// an LSTM of two directions.
Prepared singleNumbers(bool codes, bool recurrent)
{
    constexpr int64_t kHidden = 4, kGates = 4 * kHidden;
    const Shape shape = recurrent ? Shape { 2, 2 * kGates } : Shape { kRows, 1, 1 };
    std::vector<float> c = uniform(size_t(recurrent ? 4 * kGates : kRows), 7, 0.01f, 0.02f);
    c[0] = 1;
    SmallModel m(codes ? "q" : "f");
    m.input("x", recurrent ? Shape { kRows, 1, kWidth } : Shape { 1, kRows, kWidth, 1 });
    if (codes)
        m.weight("c", shape, symmetricCodes(c, { 1.f / 127 }), { 1.f / 127 });
    else
        m.constant("c", Tensor::of<float>(shape, c));
    if (!recurrent)
        return m.node("Add", { "x", "c" }, { "y" }).output("y").finish();
    m.constant("w", Tensor::of<float>({ 2, kGates, kWidth }, uniform(size_t(2 * kGates * kWidth), 5)));
    m.constant("r", Tensor::of<float>({ 2, kGates, kHidden }, uniform(size_t(2 * kGates * kHidden), 6)));
    return m
        .node("LSTM", { "x", "w", "r", "c" }, { "y" },
            { { "hidden_size", kHidden }, { "direction", std::string("bidirectional") } })
        .output("y")
        .finish();
}

} // namespace

class BiasScaleTests : public QObject {
    Q_OBJECT
private slots:
    void otherValues_data()
    {
        QTest::addColumn<float>("moved");
        QTest::addColumn<float>("scale");
        QTest::addColumn<QString>("cause"); // empty: nothing is told
        QTest::newRow("healthy") << 0.f << 1.f << "";
        QTest::newRow("in the right scale") << 3.f << 1.f << "other";
        QTest::newRow("in another scale") << 3.f << 2.f << "wrong";
    }
    /// Codes of another bias in the right scale: storing it in that scale would mend nothing.
    void otherValues()
    {
        QFETCH(float, moved);
        QFETCH(float, scale);
        QFETCH(QString, cause);
        const Change change { .second = scale, .moved = moved };
        const Comparison c = compared(biased(false, change), biased(true, change), evenData());
        const Finding* f = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2(bool(f) == !cause.isEmpty(), qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->cause, cause.toStdString());
        QCOMPARE(f->remedy.find("scale and type are right") != std::string::npos, cause == "other");
    }

    /// A factor between bias scales and input x weight scale, the same everywhere, tells of the activation's scale,
    /// where its data do, too.
    void movedScale_data()
    {
        QTest::addColumn<float>("activation");
        QTest::addColumn<float>("first");
        QTest::addColumn<float>("second");
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<QString>("form"); // of the biases
        QTest::addColumn<int>("atActivation"); // a rule; -1: none
        QTest::addColumn<int>("ofBias"); // places of wrong_bias_scale
        const int small = int(Rule::RangeTooSmall), large = int(Rule::RangeTooLarge);
        QTest::newRow("healthy") << 1.f << 1.f << 1.f << true << "" << -1 << 0;
        QTest::newRow("healthy, a scale a tensor") << 1.f << 1.f << 1.f << false << "" << -1 << 0;
        QTest::newRow("halved") << 0.5f << 2.f << 2.f << true << "" << small << 0;
        QTest::newRow("halved, a scale a tensor") << 0.5f << 2.f << 2.f << false << "" << small << 0;
        QTest::newRow("doubled") << 2.f << 0.5f << 0.5f << true << "" << large << 0;
        QTest::newRow("doubled, a scale a tensor") << 2.f << 0.5f << 0.5f << false << "" << large << 0;
        QTest::newRow("one bias has a scale of its own") << 1.f << 2.f << 1.f << true << "" << -1 << 1;
        QTest::newRow("both have, each another one") << 1.f << 2.f << 3.f << true << "" << -1 << 2;
        QTest::newRow("the activation has the right one") << 1.f << 2.f << 2.f << true << "" << -1 << 2;
        QTest::newRow("doubled, int8 biases") << 2.f << 0.5f << 0.5f << false << "int8" << -1 << 2;
        QTest::newRow("int8 biases of any scale") << 1.f << 0.7f << 0.6f << false << "int8" << -1 << 2;
        QTest::newRow("halved, steps below float32's") << 0.5f << 2.f << 2.f << true << "fine" << small << 0;
        QTest::newRow("far from what the data ask for") << 1.f << 37.f << 37.f << false << "" << -1 << 2;
    }
    void movedScale()
    {
        QFETCH(float, activation);
        QFETCH(float, first);
        QFETCH(float, second);
        QFETCH(bool, perChannel);
        QFETCH(QString, form);
        QFETCH(int, atActivation);
        QFETCH(int, ofBias);
        const Change change { activation, first, second, perChannel, form == "int8", form == "fine" };
        const Comparison c = compared(biased(false, change), biased(true, change), evenData());
        const Finding* bias = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2(bool(bias) == (ofBias > 0), qPrintable(rulesOf(c)));
        if (bias)
            QCOMPARE(int(placesOf(*bias).size()), ofBias);
        if (bias && form == "int8") // no kernel on codes adds it
            QVERIFY2(bias->severity == Severity::Note && bias->cause == "narrow", qPrintable(rulesOf(c)));
        if (atActivation < 0) {
            QVERIFY2(!severeOf(c, Rule::RangeTooSmall) && !severeOf(c, Rule::RangeTooLarge), qPrintable(rulesOf(c)));
            return;
        }
        const Finding* f = severeOf(c, Rule(atActivation));
        QVERIFY2(f && f->tensor == "a", qPrintable(rulesOf(c)));
        QVERIFY2(f->summary.find("n_p and 1 more") != std::string::npos, f->summary.c_str());
        QCOMPARE(int(f->change.kind), int(RemedyKind::SetRange));
        constexpr double kOld = 2.0 / 255;
        QVERIFY2(std::fabs(f->change.high - f->change.low - 255 * kOld) < kOld / 10, f->summary.c_str());
    }

    /// Codes that nodes share are in the scale in which they are the float model's bias.
    void sharedCodes_data()
    {
        QTest::addColumn<float>("second");
        QTest::addColumn<bool>("inSecond");
        QTest::addColumn<QString>("blamed"); // node
        QTest::addColumn<QString>("factor");
        QTest::newRow("one scale") << 2.f / 255 << true << QString() << QString();
        QTest::newRow("that of the last") << 1.f / 255 << true << "n_p"
                                          << "adds 2 times";
        QTest::newRow("that of the first") << 1.f / 255 << false << "n_q"
                                           << "adds 0.5 times";
    }
    void sharedCodes()
    {
        QFETCH(float, second);
        QFETCH(bool, inSecond);
        QFETCH(QString, blamed);
        QFETCH(QString, factor);
        const float first = 2.f / 255;
        const Comparison c = compared(
            sharedBias(false, first, second, inSecond), sharedBias(true, first, second, inSecond), evenData());
        const auto count = std::ranges::count(c.findings, Rule::WrongBiasScale, &Finding::rule);
        QVERIFY2(count == (blamed.isEmpty() ? 0 : 1), qPrintable(rulesOf(c)));
        if (count == 0)
            return;
        const Finding* f = findingOf(c, Rule::WrongBiasScale);
        QCOMPARE(QString::fromStdString(f->node), blamed);
        QCOMPARE(int(placesOf(*f).size()), 1);
        QVERIFY2(QString::fromStdString(f->summary).contains(factor), f->summary.c_str());
    }

    void lost_data()
    {
        QTest::addColumn<bool>("zeros");
        QTest::addColumn<float>("step");
        QTest::addColumn<bool>("behind");
        QTest::addColumn<bool>("told");
        QTest::newRow("zeros") << true << 1e-4f << false << true;
        QTest::newRow("the float model's") << false << 1e-4f << false << false;
        QTest::newRow("rounded to zeros") << false << 0.2f << false << false;
        QTest::newRow("added behind") << true << 1e-4f << true << false;
    }
    /// Zeros are told of, however much else is off.
    void lost()
    {
        QFETCH(const bool, zeros);
        QFETCH(const float, step);
        QFETCH(const bool, behind);
        QFETCH(const bool, told);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(size_t(kRows * kWidth), 9)) });
        const Comparison c = compared(coarse(false, false, 1, false), coarse(true, zeros, step, behind), data);
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        if (told)
            QCOMPARE(found->title, std::string("The bias of n_p is lost"));
    }

    void shiftedMeans_data()
    {
        QTest::addColumn<int>("stored");
        QTest::addColumn<bool>("split");
        QTest::addColumn<bool>("image");
        QTest::addColumn<bool>("told");
        for (const bool split : { false, true })
            for (const bool image : { false, true }) {
                const std::string where = std::string(split ? ", Add" : "") + (image ? ", Conv" : "");
                const auto row = [&](const char* name, Stored stored, bool told) {
                    QTest::newRow((name + where).c_str()) << int(stored) << split << image << told;
                };
                row("the float model's", Stored::Own, false);
                row("in another order", Stored::Permuted, true);
                row("others of the same mean", Stored::Another, true);
                row("corrected", Stored::Corrected, false);
            }
    }
    /// Other numbers in a bias are told of by the means behind it, which correction takes away; its mean alone tells
    /// neither.
    void shiftedMeans()
    {
        QFETCH(const int, stored);
        QFETCH(const bool, split);
        QFETCH(const bool, image);
        QFETCH(const bool, told);
        const Shape shape = image ? Shape { 1, kWidth, kRows, 1 } : Shape { kRows, kWidth };
        const FixedData data({ Tensor::of<float>(shape, uniform(size_t(kRows * kWidth), 9, 0, 1)) });
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(
            shifted(false, Stored::Own, split, image), shifted(true, Stored(stored), split, image), data, options);
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        if (!told)
            return;
        QVERIFY2(found->summary.find("the means of the channels are off") != std::string::npos, found->summary.c_str());
        QCOMPARE(found->weight,
            std::optional<size_t>(std::ranges::find(c.weights, true, &WeightRow::bias) - c.weights.begin()));
    }

    void behindActivation_data()
    {
        QTest::addColumn<int>("stored");
        QTest::addColumn<QString>("cause");
        QTest::newRow("the float model's") << int(Stored::Own) << QString();
        QTest::newRow("in another order") << int(Stored::Permuted) << "other";
        QTest::newRow("others of the same mean") << int(Stored::Another) << "other";
        QTest::newRow("lost") << int(Stored::Lost) << "wrong";
    }
    /// What an operator on codes makes is behind the activation that its codes are cut by: what is cut tells nothing of
    /// the bias.
    void behindActivation()
    {
        QFETCH(const int, stored);
        QFETCH(const QString, cause);
        const FixedData data({ Tensor::of<float>({ 1, kWidth, kRows, 1 }, uniform(size_t(kRows * kWidth), 9, 0, 1)) });
        CompareOptions options;
        options.prove = true;
        const Comparison c
            = compared(shiftedOperator(false, Stored::Own), shiftedOperator(true, Stored(stored)), data, options);
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2((found != nullptr) != cause.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(found->cause, cause.toStdString());
        QVERIFY2(found->summary.find("the means of the channels are off") != std::string::npos, found->summary.c_str());
    }

    void addedBehind_data()
    {
        QTest::addColumn<int>("stored");
        QTest::addColumn<bool>("told");
        QTest::newRow("the float model's") << int(Stored::Own) << false;
        QTest::newRow("corrected") << int(Stored::Corrected) << false;
        QTest::newRow("in another order") << int(Stored::Permuted) << true;
    }
    /// What an Add adds is a bias, too: corrected, it is no other weight.
    void addedBehind()
    {
        QFETCH(const int, stored);
        QFETCH(const bool, told);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(size_t(kRows * kWidth), 9, 0, 1)) });
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(shifted(false, Stored::Own, true, false, true),
            shifted(true, Stored(stored), true, false, true), data, options);
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found && found->severity != Severity::Note) == told, qPrintable(rulesOf(c)));
        if (told)
            QCOMPARE(found->tensor, std::string("b"));
    }

    void channelsOfOneNumber_data()
    {
        QTest::addColumn<bool>("recurrent");
        QTest::newRow("added to an image") << false;
        QTest::newRow("biases of two directions") << true;
    }
    /// A scale for each number would store it as it is: that is no granularity.
    void channelsOfOneNumber()
    {
        QFETCH(const bool, recurrent);
        const Shape shape = recurrent ? Shape { kRows, 1, kWidth } : Shape { 1, kRows, kWidth, 1 };
        const FixedData data({ Tensor::of<float>(shape, uniform(size_t(kRows * kWidth), 9)) });
        const Comparison c = compared(singleNumbers(false, recurrent), singleNumbers(true, recurrent), data);
        QCOMPARE(c.weights.size(), size_t(1));
        QVERIFY(c.weights[0].perTensorSqnrDb && !c.weights[0].perChannelSqnrDb);
        QVERIFY2(!findingOf(c, Rule::ChannelImbalance), qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(BiasScaleTests)
#include "bias_scales_test.moc"
