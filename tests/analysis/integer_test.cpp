// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/cpu_sums.h"
#include "core/analysis/rules/findings.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/runners.h"

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

Prepared sums(const char* path, bool quantized)
{
    SmallModel model(path);
    model.input("x", { 4 });
    if (!quantized)
        return model.node("Add", { "x", "x" }, { "a" }).node("Add", { "a", "a" }, { "y" }).output("y").finish();
    return model.qdq<uint8_t>("x", "x_dq", 0.5f, 0)
        .node("Add", { "x_dq", "x_dq" }, { "a" })
        .qdq<uint8_t>("a", "a_dq", 2.0f, 1)
        .node("Add", { "a_dq", "a_dq" }, { "b" })
        .qdq<uint8_t>("b", "y", 8.0f, 0)
        .output("y")
        .finish();
}

/// Two output channels of a 1x1 convolution over two input channels; the first one's weights are extreme.
Prepared conv(const char* path, bool quantized)
{
    SmallModel model(path);
    model.input("x", { 1, 2, 2, 3 });
    if (!quantized)
        return model.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 127, 127, 1, 2 }))
            .node("Conv", { "x", "w" }, { "c" })
            .node("Relu", { "c" }, { "y" })
            .output("y")
            .finish();
    return model.qdq<uint8_t>("x", "x_dq", 1.0f, 0)
        .weight("w", { 2, 2, 1, 1 }, { 127, 127, 1, 2 }, { 1.0f })
        .node("Conv", { "x_dq", "w" }, { "c" })
        .node("Relu", { "c" }, { "r" })
        .qdq<uint8_t>("r", "y", 300.0f, 0)
        .output("y")
        .finish();
}

/// Two of them in a row. Both saturate: the first loses little of it, and much to a range that is too small; the second
/// loses to saturation alone.
Prepared twoConvs(const char* path, bool quantized)
{
    const Shape shape { 2, 2, 1, 1 };
    SmallModel model(path);
    model.input("x", { 1, 2, 2, 3 });
    if (!quantized)
        return model.constant("w", Tensor::of<float>(shape, { 127, 127, 127, 127 }))
            .constant("v", Tensor::of<float>(shape, { 127, 127, 127, 127 }))
            .node("Conv", { "x", "w" }, { "c" })
            .node("Relu", { "c" }, { "r" })
            .node("Conv", { "r", "v" }, { "d" })
            .node("Relu", { "d" }, { "y" })
            .output("y")
            .finish();
    return model.qdq<uint8_t>("x", "x_dq", 1.0f, 0)
        .weight("w", shape, { 127, 127, 127, 127 }, { 1.0f })
        .node("Conv", { "x_dq", "w" }, { "c" })
        .node("Relu", { "c" }, { "cr" })
        .qdq<uint8_t>("cr", "r", 150.0f, 0)
        .weight("v", shape, { 127, 127, 127, 127 }, { 1.0f })
        .node("Conv", { "r", "v" }, { "d" })
        .node("Relu", { "d" }, { "dr" })
        .qdq<uint8_t>("dr", "y", 60000.0f, 0)
        .output("y")
        .finish();
}

Comparison comparedAs(
    ArithmeticProfile profile, const Prepared& f, const Prepared& q, const FixedData& data, size_t threads = 1)
{
    CompareOptions options;
    ComparePair pair = pairOf(f, q);
    options.profile = profile;
    if (profile != ArithmeticProfile::Simulated) {
        pair.writtenPlan = pair.quantPlan;
        pair.quantPlan = Plan::make(std::make_shared<Model>(q.plan->model()), { KernelMode::Fast, profile });
    }
    auto result = compareModels(pair, data, options, { {}, {}, threads });
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

class IntegerTests : public QObject {
    Q_OBJECT

private slots:
    void simulatedHasNoImplementation();
    void countsEachUnitFromTheSameCodes();
    void saysWhatLiesInsideUnits();
    void countsSaturatedPairs();
    void namesWhereTheLossIsMade();
    void doesNotInheritWhatItsOwnSumsLose();
    void comparesSumsThatEndInFloats_data();
    void comparesSumsThatEndInFloats();
    void blamesTheSumsOfOperatorsOnCodes();
    void risksOfProductsInFloat_data();
    void risksOfProductsInFloat();
    void costOfRisks_data();
    void costOfRisks();
    void risksOfConvolutions_data();
    void risksOfConvolutions();
    void ordersRisks_data();
    void ordersRisks();
    void doesNotDependOnThreads();
};

const Tensor kSteps = Tensor::of<float>({ 4 }, { 0.5f, 1.0f, 1.5f, 2.0f });

void IntegerTests::simulatedHasNoImplementation()
{
    const Comparison c
        = comparedAs(ArithmeticProfile::Simulated, sums("f", false), sums("q", true), FixedData({ kSteps }));
    QCOMPARE(c.profile, ArithmeticProfile::Simulated);
    QVERIFY(!rowOf(c, "a").implementation);
    QVERIFY(!c.outputs[0].implementation);
    QVERIFY(c.saturation.empty());
}

/// QLinearAdd rounds with the zero point added: v = code / 2 + 1 gives 1.5, 2, 2.5, 3 -> 2, 2, 2, 3; the file as
/// written rounds 0.5, 1, 1.5, 2 first -> 1, 2, 3, 3. From the same codes the second sum has no difference.
void IntegerTests::countsEachUnitFromTheSameCodes()
{
    const Comparison c
        = comparedAs(ArithmeticProfile::Integer, sums("f", false), sums("q", true), FixedData({ kSteps }));
    QCOMPARE(c.profile, ArithmeticProfile::Integer);
    QVERIFY(rowOf(c, "x").implementation);
    QCOMPARE(rowOf(c, "x").implementation->offByOne, 0.0);
    QVERIFY(rowOf(c, "a").implementation);
    QCOMPARE(rowOf(c, "a").implementation->offByOne, 0.5);
    QCOMPARE(rowOf(c, "a").implementation->beyond, 0.0);
    QVERIFY(rowOf(c, "y").implementation);
    QCOMPARE(rowOf(c, "y").implementation->offByOne, 0.0);
    // End to end: codes 0.5, 0.5, 0.5, 1 -> 0, 0, 0, 1 against 0, 0.5, 1, 1 -> 0, 0, 1, 1.
    QVERIFY(c.outputs[0].implementation);
    QVERIFY(close(c.outputs[0].implementation->maxAbsError, 8));
}

/// The float model's convolution before its Relu has a partner only inside the unit, which still says its value.
void IntegerTests::saysWhatLiesInsideUnits()
{
    const Tensor x = Tensor::of<float>({ 1, 2, 2, 3 }, { 1, 2, 3, 4, 5, 6, 1, 0, 2, 0, 3, 0 });
    const Prepared f = conv("f", false), q = conv("q", true);
    const Comparison integer = comparedAs(ArithmeticProfile::Integer, f, q, FixedData({ x }));
    const Comparison simulated = comparedAs(ArithmeticProfile::Simulated, f, q, FixedData({ x }));
    QCOMPARE(integer.activations.size(), simulated.activations.size());
    for (size_t i = 0; i < simulated.activations.size(); ++i) {
        const ActivationRow &a = integer.activations[i], &b = simulated.activations[i];
        QCOMPARE(a.name, b.name);
        QCOMPARE(a.accumulated.exact, b.accumulated.exact);
        QCOMPARE(a.accumulated.sqnrDb, b.accumulated.sqnrDb);
        QCOMPARE(a.noise.rounding, b.noise.rounding);
    }
}

void IntegerTests::countsSaturatedPairs()
{
    // 255 * 127 * 2 leaves 16 bits, 129 * 127 * 2 = 32766 does not.
    const Tensor x = Tensor::of<float>({ 1, 2, 2, 3 }, { 255, 129, 0, 200, 1, 2, 255, 129, 255, 200, 1, 2 });
    const Prepared f = conv("f", false), q = conv("q", true);
    const Comparison c = comparedAs(ArithmeticProfile::IntegerAvx2, f, q, FixedData({ x, x }));
    QCOMPARE(c.saturation.size(), size_t(1));
    QCOMPARE(c.saturation[0].node, std::string("n_c"));
    QCOMPARE(c.saturation[0].opType, std::string("Conv"));
    QCOMPARE(c.saturation[0].pairs, uint64_t(24));
    QCOMPARE(c.saturation[0].saturated, (std::vector<uint64_t> { 4, 0 }));
    QCOMPARE(c.saturation[0].worst, (SaturatedPair { 0, 0, 255, 255, 127, 127 }));
    QCOMPARE(c.saturation[0].worst.kept(), 32767);
    QVERIFY(rowOf(c, "y").implementation->beyond > 0);
    const Finding* finding = findingOf(c, Rule::SaturatingAccumulation);
    QVERIFY2(finding, qPrintable(rulesOf(c)));
    QCOMPARE(finding->severity, Severity::Warning);
    QCOMPARE(finding->node, std::string("n_c"));
    QCOMPARE(finding->tensor, std::string("y"));
    QCOMPARE(finding->evidence[0].number, std::optional(4.0));
    QVERIFY(!findingOf(c, Rule::ImplementationDiffers)); // one cause, one finding
    QVERIFY(comparedAs(ArithmeticProfile::Integer, f, q, FixedData({ x })).saturation.empty());
}

void IntegerTests::namesWhereTheLossIsMade()
{
    const Tensor x = Tensor::of<float>({ 1, 2, 2, 3 }, { 255, 250, 255, 200, 240, 255, 255, 255, 230, 255, 255, 245 });
    const Comparison c
        = comparedAs(ArithmeticProfile::IntegerAvx2, twoConvs("f", false), twoConvs("q", true), FixedData({ x }));
    QCOMPARE(c.saturation.size(), size_t(2));
    const ActivationRow &first = rowOf(c, "r"), &second = rowOf(c, "y");
    QVERIFY(*first.implementation->noisePower / *first.signalPower
        < *second.implementation->noisePower / *second.signalPower);
    const Finding* finding = findingOf(c, Rule::SaturatingAccumulation);
    QVERIFY2(finding, qPrintable(rulesOf(c)));
    QCOMPARE(finding->tensor, std::string("y"));
    QCOMPARE(finding->places.size(), size_t(2));
    QCOMPARE(finding->places[1].tensor, std::string("r"));
    QVERIFY(finding->summary.find(" dB") != std::string::npos);
}

/// Nothing cancels, and nothing came in: the noise is the saturated sums' at the convolution as at the Relu that ends
/// its unit.
void IntegerTests::doesNotInheritWhatItsOwnSumsLose()
{
    const Tensor x = Tensor::of<float>({ 1, 2, 2, 3 }, { 255, 129, 240, 200, 250, 220, 255, 200, 255, 200, 210, 220 });
    ComparePair pair = pairOf(conv("f", false), conv("q", true));
    pair.writtenPlan = pair.quantPlan;
    pair.quantPlan = Plan::make(
        std::make_shared<Model>(pair.quantPlan->model()), { KernelMode::Fast, ArithmeticProfile::IntegerAvx2 });
    CompareOptions options;
    options.profile = ArithmeticProfile::IntegerAvx2;
    options.prove = true;
    const auto c = compareModels(pair, FixedData({ x }), options, {});
    QVERIFY(c.ok());
    for (const char* name : { "c", "y" }) {
        const ActivationRow& row = rowOf(*c, name);
        const double mse = *row.accumulated.rmse * *row.accumulated.rmse;
        QVERIFY(row.noise.kernel);
        QVERIFY2(*row.noise.kernel > 0.8 * mse && *row.noise.inherited < 0.2 * mse, name);
    }
    QVERIFY2(findingOf(*c, Rule::SaturatingAccumulation), qPrintable(rulesOf(*c)));
    QVERIFY2(!findingOf(*c, Rule::SensitiveOperator), qPrintable(rulesOf(*c)));
    QVERIFY(!rowOf(comparedAs(ArithmeticProfile::Simulated, conv("f", false), conv("q", true), FixedData({ x })), "y")
                 .noise.kernel);
}

/// x by a weight, exactly one of two columns of which saturates; the bias is behind the scales (and none of a Gemm).
Prepared floatSums(const std::string& form, bool quantized)
{
    const std::vector<int8_t> codes { 127, 1, 127, 2 };
    SmallModel model(quantized ? "q" : "f");
    model.input("x", { 2, 2 }).constant("b", Tensor::of<float>({ 1, 1, 2 }, { 5, -5 }));
    if (!quantized)
        model.constant("w", Tensor::of<float>({ 2, 2 }, { 127, 1, 127, 2 })).node("MatMul", { "x", "w" }, { "m" });
    else if (form == "MatMulIntegerToFloat")
        model.qdq<uint8_t>("x", "x_dq", 1.0f, 0)
            .weight("w", { 2, 2 }, codes, { 1.0f })
            .node("MatMul", { "x_dq", "w" }, { "m" });
    else
        model.constant("w", Tensor::of<int8_t>({ 2, 2 }, codes))
            .constant("w_s", Tensor::scalar(1.0f))
            .node("DynamicQuantizeLinear", { "x" }, { "x_q", "x_s", "x_z" })
            .node("MatMulInteger", { "x_q", "w", "x_z" }, { "sums" })
            .node("Cast", { "sums" }, { "cast" }, { { "to", int64_t(1) } })
            .node("Mul", { "x_s", "w_s" }, { "scales" })
            .node("Mul", { "cast", "scales" }, { "m" });
    return model.node("Add", { "m", "b" }, { "y" }).output("y").finish();
}

void IntegerTests::comparesSumsThatEndInFloats_data()
{
    QTest::addColumn<QString>("form");
    QTest::newRow("made floats at once") << "MatMulIntegerToFloat";
    QTest::newRow("cast and scaled") << "MatMulInteger";
}

void IntegerTests::comparesSumsThatEndInFloats()
{
    QFETCH(QString, form);
    const Prepared f = floatSums(form.toStdString(), false), q = floatSums(form.toStdString(), true);
    const FixedData data({ Tensor::of<float>({ 2, 2 }, { 255, 240, 250, 220 }),
        Tensor::of<float>({ 2, 2 }, { 255, 200, 255, 230 }), Tensor::of<float>({ 2, 2 }, { 0, 0, 255, 210 }) });
    const Comparison c = comparedAs(ArithmeticProfile::IntegerAvx2, f, q, data);
    QVERIFY(!c.saturation.empty() && c.saturation[0].saturatedPairs() > 0);
    for (const char* name : { "m", "y" }) {
        const ActivationRow& row = rowOf(c, name);
        const double mse = *row.accumulated.rmse * *row.accumulated.rmse;
        QVERIFY2(row.noise.kernel && *row.noise.kernel > 0.8 * mse && *row.noise.inherited < 0.2 * mse, name);
    }
    const Finding* finding = findingOf(c, Rule::SaturatingAccumulation);
    QVERIFY2(finding, qPrintable(rulesOf(c)));
    QCOMPARE(finding->severity, Severity::Warning);
    QCOMPARE(finding->node, c.saturation[0].node);
    QVERIFY(finding->summary.find("From the same codes that alone leaves") != std::string::npos);
    QVERIFY2(!findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
    const Comparison again = comparedAs(ArithmeticProfile::IntegerAvx2, f, q, data, 3);
    QCOMPARE(rowOf(again, "y").noise.kernel, rowOf(c, "y").noise.kernel);
}

/// An operator on codes ends at another node than the row that tells of its codes.
void IntegerTests::blamesTheSumsOfOperatorsOnCodes()
{
    const Tensor x = Tensor::of<float>({ 1, 2, 2, 3 }, { 255, 129, 0, 200, 1, 2, 255, 129, 255, 200, 1, 2 });
    SmallModel q("q");
    q.input("x", { 1, 2, 2, 3 });
    for (const char* stem : { "x", "w", "y" })
        q.constant(std::string(stem) + "_s", Tensor::scalar(*stem == 'y' ? 300.0f : 1.0f))
            .constant(std::string(stem) + "_z", *stem == 'w' ? Tensor::scalar<int8_t>(0) : Tensor::scalar<uint8_t>(0));
    q.constant("w_q", Tensor::of<int8_t>({ 2, 2, 1, 1 }, { 127, 127, 1, 2 }))
        .node("QuantizeLinear", { "x", "x_s", "x_z" }, { "x_q" })
        .node("QLinearConv", { "x_q", "x_s", "x_z", "w_q", "w_s", "w_z", "y_s", "y_z" }, { "y_q" })
        .node("DequantizeLinear", { "y_q", "y_s", "y_z" }, { "y" })
        .output("y");
    const Comparison c = comparedAs(ArithmeticProfile::IntegerAvx2, conv("f", false), q.finish(), FixedData({ x, x }));
    const Finding* finding = findingOf(c, Rule::SaturatingAccumulation);
    QVERIFY2(finding, qPrintable(rulesOf(c)));
    QCOMPARE(finding->severity, Severity::Warning);
    QCOMPARE(finding->tensor, std::string("y"));
    QVERIFY2(!findingOf(c, Rule::ImplementationDiffers), qPrintable(rulesOf(c)));
}

void IntegerTests::risksOfProductsInFloat_data()
{
    QTest::addColumn<int>("zero");
    QTest::addColumn<bool>("turned");
    QTest::addColumn<bool>("told");
    QTest::newRow("the quantizer stands for the Relu") << 0 << false << true;
    QTest::newRow("a Relu keeps the product in float") << 10 << false << false;
    QTest::newRow("a turned weight") << 0 << true << true;
}

/// What ONNX Runtime multiplies as floats cannot saturate, whatever codes are around it.
void IntegerTests::risksOfProductsInFloat()
{
    QFETCH(int, zero);
    QFETCH(bool, turned);
    QFETCH(bool, told);
    const auto model = [&](bool quantized) {
        SmallModel m(quantized ? "q" : "f");
        m.input("x", { 2, 2 });
        if (!quantized)
            return m.constant("w", Tensor::of<float>({ 2, 2 }, { 127, 1, 127, 2 }))
                .node("MatMul", { "x", "w" }, { "m" })
                .node("Relu", { "m" }, { "y" })
                .output("y")
                .finish();
        m.qdq<uint8_t>("x", "x_dq", 1.0f, 0);
        if (turned)
            m.weight("rows", { 2, 2 }, { 127, 127, 1, 2 }, { 1.0f, 1.0f })
                .node("Transpose", { "rows" }, { "w" }, { { "perm", std::vector<int64_t> { 1, 0 } } });
        else
            m.weight("w", { 2, 2 }, { 127, 1, 127, 2 }, { 1.0f });
        return m.node("MatMul", { "x_dq", "w" }, { "m" })
            .node("Relu", { "m" }, { "r" })
            .qdq<uint8_t>("r", "y", 300.0f, uint8_t(zero))
            .output("y")
            .finish();
    };
    const ComparePair pair = pairOf(model(false), model(true));
    std::vector<Finding> found;
    findSaturationRisk(pair, Comparison {}, true, found);
    QCOMPARE(!found.empty(), told);
}

void IntegerTests::costOfRisks_data()
{
    QTest::addColumn<std::vector<float>>("x"); // of the first position, by channel
    QTest::addColumn<bool>("harms");
    QTest::newRow("sums that are cut off") << std::vector<float> { 255, 255 } << true;
    QTest::newRow("activations that leave room") << std::vector<float> { 100, 100 } << false;
}

/// What may saturate is run on samples, and told as they have it.
void IntegerTests::costOfRisks()
{
    QFETCH(std::vector<float>, x);
    QFETCH(bool, harms);
    const ComparePair pair = pairOf(conv("f", false), conv("q", true));
    std::vector<float> values(12, 1);
    values[0] = x[0];
    values[6] = x[1];
    const auto sums = measureCpuSums(pair, { { { Tensor::of<float>({ 1, 2, 2, 3 }, values) } } });
    QVERIFY(sums && sums->samples == 1 && pair.floatPlan->graph().value(sums->floatValue).name == "y");
    // 127 * 255 + 127 * 255 = 64770, of which 32767 are left, as codes of 300: 216 and 109.
    const auto db = [&](double code) {
        double signal = 0, noise = 0;
        for (size_t i = 0; i < 6; ++i) {
            const double a = values[i], b = values[i + 6], first = 127 * (a + b), second = a + 2 * b;
            const double as = 300 * (i == 0 ? code : std::nearbyint(first / 300));
            signal += first * first + second * second;
            noise += std::pow(first - as, 2) + std::pow(second - 300 * std::nearbyint(second / 300), 2);
        }
        return 10 * std::log10(signal / noise);
    };
    const double exact = std::nearbyint(127 * double(x[0] + x[1]) / 300);
    QVERIFY2(std::fabs(sums->exactDb - db(exact)) < 1e-4, qPrintable(QString::number(sums->exactDb)));
    QVERIFY2(std::fabs(sums->cutDb - db(harms ? 109 : exact)) < 1e-4, qPrintable(QString::number(sums->cutDb)));
    Comparison c;
    c.network.emplace().cpuSums = sums;
    std::vector<Finding> found;
    findSaturationRisk(pair, c, true, found);
    QCOMPARE(found.size(), size_t(1));
    QCOMPARE(found[0].severity, harms ? Severity::Warning : Severity::Note);
    const QString text = QString::fromStdString(found[0].summary + found[0].remedy);
    QVERIFY2(text.contains(harms ? "dB at output 'y'" : "Nothing has to be done"), qPrintable(text));
}

void IntegerTests::risksOfConvolutions_data()
{
    QTest::addColumn<int>("in"); // channels
    QTest::addColumn<int>("out");
    QTest::addColumn<int>("groups");
    QTest::addColumn<bool>("told");
    QTest::newRow("several channels") << 2 << 3 << 1 << true;
    QTest::newRow("one input channel") << 1 << 4 << 1 << true;
    QTest::newRow("one channel in and out") << 1 << 1 << 1 << false;
    QTest::newRow("depthwise") << 4 << 4 << 4 << false;
    QTest::newRow("several outputs for each input") << 2 << 4 << 2 << true;
    QTest::newRow("groups of channels") << 4 << 4 << 2 << true;
}

/// What may saturate is what the profile counts, and only depthwise convolutions have another kernel.
void IntegerTests::risksOfConvolutions()
{
    QFETCH(int, in);
    QFETCH(int, out);
    QFETCH(int, groups);
    QFETCH(bool, told);
    const Shape shape { out, in / groups, 3, 3 };
    const auto count = size_t(*elementCount(shape));
    const auto model = [&](bool quantized) {
        SmallModel m(quantized ? "q" : "f");
        m.input("x", { 1, in, 3, 3 });
        if (quantized)
            m.qdq<uint8_t>("x", "x_dq", 1, 0).weight("w", shape, std::vector<int8_t>(count, 120), { 1.0f });
        else
            m.constant("w", Tensor::of<float>(shape, std::vector<float>(count, 120)));
        m.node("Conv", { quantized ? "x_dq" : "x", "w" }, { "c" }, { { "group", int64_t(groups) } });
        if (quantized)
            m.qdq<uint8_t>("c", "y", 2000, 0);
        else
            m.node("Identity", { "c" }, { "y" });
        return m.output("y").finish();
    };
    const Prepared floats = model(false), codes = model(true);
    const FixedData data({ Tensor::of<float>({ 1, in, 3, 3 }, std::vector<float>(size_t(in) * 9, 250)) });
    const Comparison counted = comparedAs(ArithmeticProfile::IntegerAvx2, floats, codes, data);
    uint64_t saturated = 0;
    for (const SaturationRow& row : counted.saturation)
        saturated += row.saturatedPairs();
    QCOMPARE(saturated > 0, told);
    std::vector<Finding> found;
    findSaturationRisk(pairOf(floats, codes), Comparison {}, true, found);
    QCOMPARE(!found.empty(), told);
}

void IntegerTests::ordersRisks_data()
{
    QTest::addColumn<float>("first"); // values of its activations
    QTest::addColumn<float>("second");
    QTest::addColumn<std::string>("worst");
    QTest::newRow("large codes at the first") << 250.0f << 20.0f << std::string("n_a");
    QTest::newRow("large codes at the second") << 20.0f << 250.0f << std::string("n_b");
}

/// Large activations make the noise: the worst is the one that the profile names, whose weights may be the fewer.
void IntegerTests::ordersRisks()
{
    QFETCH(float, first);
    QFETCH(float, second);
    QFETCH(std::string, worst);
    const auto model = [&](bool quantized) {
        SmallModel m(quantized ? "q" : "f");
        m.input("s", { 1, 4 });
        using Names = std::array<std::string, 3>;
        for (const auto& [x, y, w] : { Names { "x", "a", "w" }, Names { "z", "b", "v" } }) {
            const std::string in = x + (quantized ? "_dq" : ""), sum = y + "_s";
            const bool few = w == "w";
            m.constant(x + "_times", Tensor::scalar(few ? first : second)).node("Mul", { "s", x + "_times" }, { x });
            if (quantized)
                m.qdq<uint8_t>(x, in, 1, 0)
                    .weight(w, { 4, 1 },
                        few ? std::vector<int8_t> { 127, 127, 1, 1 } : std::vector<int8_t> { 127, 127, 127, 127 },
                        { 1 });
            else
                m.constant(w,
                    Tensor::of<float>({ 4, 1 },
                        few ? std::vector<float> { 127, 127, 1, 1 } : std::vector<float> { 127, 127, 127, 127 }));
            m.node("MatMul", { in, w }, { sum });
            if (quantized)
                m.qdq<uint8_t>(sum, y, 600, 0);
            else
                m.node("Identity", { sum }, { y });
            m.output(y);
        }
        return m.finish();
    };
    const Prepared floats = model(false), codes = model(true);
    const FixedData ones({ Tensor::of<float>({ 1, 4 }, { 1, 1, 1, 1 }) });
    const Comparison c = comparedAs(ArithmeticProfile::Simulated, floats, codes, ones);
    std::vector<Finding> found;
    findSaturationRisk(pairOf(floats, codes), c, true, found);
    QCOMPARE(found.size(), size_t(2));
    const Finding& top = found[0].rank > found[1].rank ? found[0] : found[1];
    QCOMPARE(top.node, worst + "_s");
}

void IntegerTests::doesNotDependOnThreads()
{
    std::mt19937 random(5);
    std::vector<Tensor> samples;
    for (int i = 0; i < 9; ++i) {
        Tensor t = Tensor::allocate(DType::Float32, { 1, 2, 2, 3 });
        for (float& v : t.fill<float>())
            v = static_cast<float>(random() % 256);
        samples.push_back(t);
    }
    const Prepared f = conv("f", false), q = conv("q", true);
    const Comparison a = comparedAs(ArithmeticProfile::IntegerAvx2, f, q, FixedData(samples));
    const Comparison b = comparedAs(ArithmeticProfile::IntegerAvx2, f, q, FixedData(samples), 3);
    QCOMPARE(a.activations.size(), b.activations.size());
    for (size_t i = 0; i < a.activations.size(); ++i) {
        QCOMPARE(a.activations[i].accumulated.sqnrDb, b.activations[i].accumulated.sqnrDb);
        QCOMPARE(a.activations[i].implementation.has_value(), b.activations[i].implementation.has_value());
        if (a.activations[i].implementation)
            QCOMPARE(a.activations[i].implementation->beyond, b.activations[i].implementation->beyond);
    }
    QCOMPARE(a.saturation[0].saturated, b.saturation[0].saturated);
    QCOMPARE(a.saturation[0].worst, b.saturation[0].worst);
    QCOMPARE(a.outputs[0].implementation->rmse, b.outputs[0].implementation->rmse);
}

} // namespace

int qs::test::runIntegerTests(int argc, char** argv)
{
    IntegerTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "integer_test.moc"
