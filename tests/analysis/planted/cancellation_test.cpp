// SPDX-License-Identifier: GPL-3.0-or-later
// Products whose sums leave less of the signal than of the noise.
#include "tests/analysis/comparing.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 64;
constexpr float kStep = 0.4f, kMean = 50; ///< of the values behind the Add

/// x -> Add, or a product with a bias -> MatMul -> y, which takes the difference of two columns, or one of them.
Prepared difference(bool quantized, bool cancels, bool product = false)
{
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { kRows, 2 }).constant("mean", Tensor::of<float>({ 2 }, { kMean, kMean }));
    m.constant("unit", Tensor::of<float>({ 2, 2 }, { 1, 0, 0, 1 }));
    if (product)
        m.node("Gemm", { "x", "unit", "mean" }, { "a" });
    else
        m.node("Add", { "x", "mean" }, { "a" });
    const float second = cancels ? -1.f : 0.f;
    if (!quantized)
        return m.constant("w", Tensor::of<float>({ 2, 1 }, { 1, second }))
            .node("MatMul", { "a", "w" }, { "y" })
            .output("y")
            .finish();
    const std::vector<int8_t> codes { 127, int8_t(127 * second) };
    return m.qdq<uint8_t>("a", "a_read", kStep, 0)
        .weight("w", { 2, 1 }, codes, { 1.f / 127 })
        .node("MatMul", { "a_read", "w" }, { "y" })
        .output("y")
        .finish();
}

constexpr float kLarge = 1e6f, kFarther = 8e6f;

/// The same difference of values with a large mean, little of which is added to x. In another order the sums round
/// otherwise; nothing is quantized.
Prepared floatSums(bool otherOrder)
{
    const auto both = [](float v) { return Tensor::of<float>({ 2 }, { v, v }); };
    SmallModel m(otherOrder ? "q" : "f");
    m.input("x", { kRows, 2 }).constant("w", Tensor::of<float>({ 2, 2 }, { 1, 1, -1, -1 }));
    m.constant("little", Tensor::scalar(1e-4f));
    if (otherOrder)
        m.constant("far", both(kFarther))
            .constant("back", both(kLarge - kFarther))
            .node("Add", { "x", "far" }, { "s" });
    else
        m.constant("mean", both(kLarge));
    m.node("Add", otherOrder ? SmallModel::Names { "s", "back" } : SmallModel::Names { "x", "mean" }, { "a" });
    m.node("MatMul", { "a", "w" }, { "y" }).node("Mul", { "y", "little" }, { "part" });
    return m.node("Add", { "x", "part" }, { "z" }).output("z").finish();
}

constexpr int64_t kChannels = 16;

/// x -> LayerNormalization, one channel of which is 60 times the others -> MatMul, which takes it little -> y. The
/// normalization stays in float.
Prepared largeChannel(bool quantized)
{
    std::vector<float> factors(kChannels, 1);
    factors[3] = 60;
    std::vector<float> weights = normals(int(kChannels), 7);
    weights[3] = 1.f / 60;
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { kRows, kChannels }).constant("g", Tensor::of<float>({ kChannels }, factors));
    m.constant("w", Tensor::of<float>({ kChannels, 1 }, weights));
    m.node("LayerNormalization", { "x", "g" }, { "a" });
    if (quantized)
        m.qdq<uint8_t>("a", "a_read", 2 * 180.f / 255, 128);
    return m.node("MatMul", { quantized ? "a_read" : "a", "w" }, { "y" }).output("y").finish();
}

/// x -> + mean -> a, x / 2 -> + mean -> b; a - b, or a + b -> y.
Prepared sumOfTwo(bool quantized, const std::string& type)
{
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { kRows, 2 }).constant("mean", Tensor::scalar(kMean)).constant("half", Tensor::scalar(0.5f));
    m.node("Add", { "x", "mean" }, { "a" }).node("Mul", { "x", "half" }, { "h" }).node("Add", { "h", "mean" }, { "b" });
    if (quantized)
        m.qdq<uint8_t>("a", "a_dq", kStep, 0).qdq<uint8_t>("b", "b_dq", kStep, 0);
    return m.node(type, { quantized ? "a_dq" : "a", quantized ? "b_dq" : "b" }, { "y" }).output("y").finish();
}

/// x -> Mul -> a, which reaches up to `largest` and has 8 bits -> a function -> Neg -> y
Prepared functionOf(bool quantized, const std::string& type, float largest)
{
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { kRows, 2 }).constant("frequency", Tensor::scalar(largest / 4));
    m.node("Mul", { "x", "frequency" }, { "a" });
    if (quantized)
        m.qdq<uint8_t>("a", "a_dq", 2 * largest / 255, 128);
    m.node(type, { quantized ? "a_dq" : "a" }, { "f" });
    if (type == "Sin") // both of one argument, as encodings of positions have it
        m.node("Cos", { quantized ? "a_dq" : "a" }, { "g" }).node("Sum", { "f", "g" }, { "e" });
    return m.node("Neg", { type == "Sin" ? "e" : "f" }, { "y" }).output("y").finish();
}

Comparison proved(const Prepared& f, const Prepared& q)
{
    CompareOptions options;
    options.prove = true;
    return compared(f, q, FixedData({ Tensor::of<float>({ kRows, 2 }, normals(int(2 * kRows), 9)) }), options);
}

Comparison compared(bool cancels, bool product = false)
{
    std::vector<float> values = normals(int(2 * kRows), 9);
    for (float& v : values)
        v *= 0.3f;
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>({ kRows, 2 }, values) });
    auto result = compareModels(
        pairOf(difference(false, cancels, product), difference(true, cancels, product)), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

} // namespace

class CancellationTests : public QObject {
    Q_OBJECT
private slots:
    void namesWhatMakesTheInput_data()
    {
        QTest::addColumn<bool>("product");
        QTest::newRow("a sum") << false;
        QTest::newRow("a product, which has a quantizer of its own") << true;
    }
    /// The input stands above 45 dB either way.
    void namesWhatMakesTheInput()
    {
        QFETCH(bool, product);
        const Comparison c = compared(true, product);
        const Finding* found = findingOf(c, Rule::SensitiveOperator);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->tensor, std::string("y"));
        QCOMPARE(found->change.kind, RemedyKind::ExcludeNode);
        QCOMPARE(found->change.node, std::string("n_a"));
        QCOMPARE(found->together.size(), size_t(product));
        if (product)
            QCOMPARE(found->together[0].node, std::string("n_y"));
    }

    void namesSums_data()
    {
        QTest::addColumn<std::string>("type");
        QTest::addColumn<bool>("told");
        QTest::newRow("a difference") << std::string("Sub") << true;
        QTest::newRow("a sum that stays") << std::string("Add") << false;
    }
    void namesSums()
    {
        QFETCH(std::string, type);
        QFETCH(bool, told);
        const Comparison c = proved(sumOfTwo(false, type), sumOfTwo(true, type));
        const Finding* found = findingOf(c, Rule::SensitiveOperator);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(found->tensor, std::string("y"));
        QCOMPARE(found->change.node, std::string("n_a"));
        std::vector<std::string> together;
        for (const Remedy& r : found->together)
            together.push_back(r.node);
        QCOMPARE(together, (std::vector<std::string> { "n_b", "n_y" }));
    }

    void namesFunctionsThatRepeat_data()
    {
        QTest::addColumn<std::string>("type");
        QTest::addColumn<float>("largest");
        QTest::addColumn<bool>("told");
        QTest::newRow("Sin and Cos, steps of 4") << std::string("Sin") << 510.f << true;
        QTest::newRow("Cos, steps of 4") << std::string("Cos") << 510.f << true;
        QTest::newRow("Sin and Cos, steps of 0.02") << std::string("Sin") << 3.f << false;
        QTest::newRow("a function that does not repeat") << std::string("Abs") << 510.f << false;
    }
    /// The argument stands above 40 dB, and its steps are much of a period.
    void namesFunctionsThatRepeat()
    {
        QFETCH(std::string, type);
        QFETCH(float, largest);
        QFETCH(bool, told);
        const Comparison c = proved(functionOf(false, type, largest), functionOf(true, type, largest));
        QVERIFY2(c.network && c.network->same(), c.network ? c.network->reason.c_str() : "");
        const auto count = std::ranges::count(c.findings, Rule::SensitiveOperator, &Finding::rule);
        QVERIFY2(count == int(told), qPrintable(rulesOf(c)));
        if (!told)
            return;
        const Finding* found = findingOf(c, Rule::SensitiveOperator);
        QCOMPARE(found->tensor, std::string("f"));
        QCOMPARE(found->places.size(), size_t(0)); // once for all that read the argument
        QCOMPARE(found->change.kind, RemedyKind::ExcludeNode);
        QCOMPARE(found->change.node, std::string("n_a"));
        QVERIFY2(found->summary.find("steps of 4") != std::string::npos, found->summary.c_str());
        QVERIFY2(found->summary.find("repeats after 6.28") != std::string::npos, found->summary.c_str());
    }

    /// Nothing cancels: the large channel takes the steps of the others.
    void namesTheLargeChannel()
    {
        const FixedData data({ Tensor::of<float>({ kRows, kChannels }, normals(int(kRows * kChannels), 3)) });
        CompareOptions options;
        options.prove = true;
        const auto c = compareModels(pairOf(largeChannel(false), largeChannel(true)), data, options, {});
        QVERIFY(c.ok());
        const Finding* found = findingOf(*c, Rule::Outliers);
        QVERIFY2(found, qPrintable(rulesOf(*c)));
        QCOMPARE(found->tensor, std::string("a"));
        QCOMPARE(found->change.kind, RemedyKind::SmoothQuant);
        QVERIFY2(!findingOf(*c, Rule::SensitiveOperator), qPrintable(rulesOf(*c)));
    }

    /// The noise is the input's, and nothing behind it has a quantizer.
    void saysNothingOfSumsInFloat()
    {
        const auto network = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kRows, 2 }).constant("mean", Tensor::of<float>({ 2 }, { kMean, kMean }));
            m.constant("w", Tensor::of<float>({ 2, 1 }, { 1, -1 }));
            if (codes)
                m.qdq<int8_t>("x", "x_read", 0.8f, 0);
            return m.node("Add", { codes ? "x_read" : "x", "mean" }, { "a" })
                .node("MatMul", { "a", "w" }, { "y" })
                .output("y")
                .finish();
        };
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<float>({ kRows, 2 }, normals(int(2 * kRows), 9)) });
        const auto c = compareModels(pairOf(network(false), network(true)), data, options, {});
        QVERIFY(c.ok() && c->network && c->network->same());
        const ActivationRow& row = rowOf(*c, "y");
        QVERIFY(row.increaseDb.value_or(0) > 10 && *row.accumulated.sqnrDb < 20);
        QVERIFY2(!findingOf(*c, Rule::SensitiveOperator), qPrintable(rulesOf(*c)));
    }

    /// Nothing could be left in float.
    void saysNothingWhereNothingIsQuantized()
    {
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<float>({ kRows, 2 }, normals(int(2 * kRows), 9)) });
        const auto c = compareModels(pairOf(floatSums(false), floatSums(true)), data, options, {});
        QVERIFY(c.ok() && c->network && c->network->same());
        QVERIFY(rowOf(*c, "y").accumulated.sqnrDb.value_or(0) < 20);
        QVERIFY2(!findingOf(*c, Rule::SensitiveOperator), qPrintable(rulesOf(*c)));
    }

    void saysNothingOfSumsThatStay()
    {
        const Comparison c = compared(false);
        QVERIFY2(!findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(CancellationTests)
#include "cancellation_test.moc"
