// SPDX-License-Identifier: GPL-3.0-or-later
// What people get wrong when they quantize: symmetric codes, one range for all, calibration data, few labels, nodes
// left in float.
#include "core/analysis/findings/remedy.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/draft.h"
#include "core/quant/recipe/recipe.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

Q_DECLARE_METATYPE(qs::CalibrationSummary)
Q_DECLARE_METATYPE(std::vector<int8_t>)

namespace {

constexpr int64_t kCount = 512;

double number(const std::vector<EvidenceItem>& items, const std::string& key)
{
    const auto it = std::ranges::find(items, key, &EvidenceItem::key);
    return it == items.end() || !it->number ? std::nan("") : *it->number;
}
double number(const Finding& f, const std::string& key) { return number(f.evidence, key); }

Prepared negated() { return SmallModel("f").input("x", { kCount }).node("Neg", { "x" }, { "y" }).output("y").finish(); }

template <class T> Prepared negatedInCodes(float scale, T zero)
{
    return SmallModel("q")
        .input("x", { kCount })
        .qdq<T>("x", "x_dq", scale, zero)
        .node("Neg", { "x_dq" }, { "y" })
        .output("y")
        .finish();
}

/// `sign` 0: both sides.
FixedData values(int sign, float size = 1)
{
    std::vector<float> x = normals(kCount, 9);
    for (float& v : x)
        v = size * (sign == 0 ? v : float(sign) * std::fabs(v));
    return FixedData({ Tensor::of<float>({ kCount }, x) });
}

constexpr int64_t kDepth = 16;

Prepared product()
{
    return SmallModel("f")
        .input("x", { 4, kDepth })
        .constant("w", Tensor::of<float>({ kDepth, kDepth }, normals(kDepth * kDepth, 3)))
        .node("MatMul", { "x", "w" }, { "y" })
        .output("y")
        .finish();
}

Prepared productInCodes()
{
    const auto w = normals(kDepth * kDepth, 3);
    return SmallModel("q")
        .input("x", { 4, kDepth })
        .weight("w", { kDepth, kDepth }, symmetricCodes(w, { 0.03f }), { 0.03f })
        .qdq<uint8_t>("x", "x_dq", 0.03f, 128)
        .node("MatMul", { "x_dq", "w" }, { "y" })
        .output("y")
        .finish();
}

/// As ONNX Runtime writes it.
Prepared dynamicProduct()
{
    const auto w = normals(kDepth * kDepth, 3);
    return SmallModel("q")
        .input("x", { 4, kDepth })
        .constant("w_quantized", Tensor::of<int8_t>({ kDepth, kDepth }, symmetricCodes(w, { 0.03f })))
        .constant("w_scale", Tensor::scalar(0.03f))
        .constant("w_zero_point", Tensor::scalar(int8_t(0)))
        .node("DynamicQuantizeLinear", { "x" }, { "x_quantized", "x_scale", "x_zero_point" })
        .node("MatMulInteger", { "x_quantized", "w_quantized", "x_zero_point", "w_zero_point" }, { "sums" })
        .node("Cast", { "sums" }, { "sums_cast" }, { { "to", int64_t(1) } })
        .node("Mul", { "x_scale", "w_scale" }, { "scales" })
        .node("Mul", { "sums_cast", "scales" }, { "y" })
        .output("y")
        .finish();
}

/// Samples of size 1, but each `every`-th of `size`.
FixedData spread(size_t every, float size, size_t count = 16)
{
    std::vector<Tensor> samples;
    for (size_t i = 0; i < count; ++i) {
        auto x = normals(4 * kDepth, uint32_t(20 + i));
        x[0] = 3; // one largest value in all of them
        x[1] = -3;
        for (float& v : x)
            v = std::clamp(v, -3.f, 3.f) * (i % every == 0 ? 1 : size);
        samples.push_back(Tensor::of<float>({ 4, kDepth }, x));
    }
    return FixedData(std::move(samples));
}

Comparison withAccuracy(size_t labels, size_t lost, size_t gained, size_t right)
{
    Comparison c;
    OutputRow out;
    out.name = "y";
    c.outputs.push_back(out);
    Accuracy a;
    a.labels = labels;
    a.lost = lost;
    a.gained = gained;
    a.floatAccuracy = double(right) / double(labels);
    a.quantizedAccuracy = double(right - lost + gained) / double(labels);
    c.accuracy = a;
    return c;
}

/// By Pascal's triangle.
double chance(size_t lost, size_t gained)
{
    std::vector<double> row { 1 };
    for (size_t n = 0; n < lost + gained; ++n) {
        std::vector<double> next(row.size() + 1);
        for (size_t k = 0; k < row.size(); ++k) {
            next[k] += row[k] / 2;
            next[k + 1] += row[k] / 2;
        }
        row = next;
    }
    double sum = 0;
    for (size_t k = lost; k < row.size(); ++k)
        sum += row[k];
    return sum;
}

Comparison calibratedWith(const CalibrationSummary& summary, bool labelled)
{
    Comparison c;
    c.samples = 50;
    InputRow input;
    input.name = "x";
    c.inputs.push_back(input);
    OutputRow out;
    out.name = "y";
    out.floatValue = ValueId(7);
    c.outputs.push_back(out);
    ActivationRow row;
    row.floatValue = ValueId(7);
    row.shape = { 1, 4 };
    c.activations.push_back(row);
    c.floatClass.assign(50, 0);
    if (labelled)
        c.accuracy = Accuracy { 50, 1, 1 };
    c.calibration = summary;
    return c;
}

/// x -> Conv -> Relu -> MaxPool -> y
Prepared convFloat(const char* pool = "MaxPool")
{
    return SmallModel("f")
        .input("x", { 1, 2, 4, 4 })
        .constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 0.5f, 0.25f, -0.5f, 1 }))
        .node("Conv", { "x", "w" }, { "c" })
        .node("Relu", { "c" }, { "r" })
        .node(pool, { "r" }, { "y" }, { { "kernel_shape", std::vector<int64_t> { 2, 2 } } })
        .output("y")
        .finish();
}
Prepared convInCodes(bool quantizedWeight, bool quantizedOutput, const char* pool = "MaxPool")
{
    SmallModel m("q");
    m.input("x", { 1, 2, 4, 4 }).qdq<uint8_t>("x", "x_dq", 0.03f, 128);
    if (quantizedWeight)
        m.weight("w", { 2, 2, 1, 1 }, { 64, 32, -64, 127 }, { 1.f / 128 });
    else
        m.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 0.5f, 0.25f, -0.5f, 1 }));
    m.node("Conv", { "x_dq", "w" }, { "c" }).node("Relu", { "c" }, { "r" });
    if (quantizedOutput)
        m.qdq<uint8_t>("r", "r_dq", 0.02f, 0);
    m.node(pool, { quantizedOutput ? "r_dq" : "r" }, { "p" }, { { "kernel_shape", std::vector<int64_t> { 2, 2 } } });
    return m.qdq<uint8_t>("p", "y", 0.02f, 0).output("y").finish();
}

FixedData pictures() { return FixedData({ Tensor::of<float>({ 1, 2, 4, 4 }, normals(32, 4)) }); }

QStringList floatNodesOf(const Comparison& c)
{
    QStringList list;
    for (const FloatNodeRow& row : c.floatNodes)
        list << QString::fromStdString(row.node + ": " + std::string(nameIn(kFloatCauses, row.reason.cause)));
    return list;
}

} // namespace

class UsageTests : public QObject {
    Q_OBJECT
private slots:
    void symmetricOnSkewed_data();
    void symmetricOnSkewed();
    void asymmetricRemedy();
    void rangeVaries();
    void steadyDynamicRanges();
    void accuracyDrop_data();
    void accuracyDrop();
    void countsLostSamples();
    void calibrationSet_data();
    void calibrationSet();
    void otherNormalization();
    void splitProduct();
    void saturationRisk_data();
    void saturationRisk();
    void leftInFloat_data();
    void leftInFloat();
    void quantizersReasonComesFirst();
};

void UsageTests::symmetricOnSkewed_data()
{
    QTest::addColumn<int>("sign");
    QTest::addColumn<bool>("isSigned");
    QTest::addColumn<float>("scale");
    QTest::addColumn<int>("zero");
    QTest::addColumn<float>("size");
    QTest::addColumn<bool>("found");
    QTest::newRow("int8, positive") << 1 << true << 0.035f << 0 << 1.f << true;
    QTest::newRow("int8, negative") << -1 << true << 0.035f << 0 << 1.f << true;
    QTest::newRow("uint8 about 128, positive") << 1 << false << 0.035f << 128 << 1.f << true;
    QTest::newRow("int8, both sides") << 0 << true << 0.035f << 0 << 1.f << false;
    QTest::newRow("uint8, asymmetric") << 1 << false << 0.0175f << 0 << 1.f << false;
    QTest::newRow("int8, asymmetric") << 1 << true << 0.0175f << -128 << 1.f << false;
    QTest::newRow("what is cut off rules") << 1 << true << 0.025f << 0 << 1.f << false;
    QTest::newRow("far too large a range is another fault") << 1 << true << 0.035f << 0 << 0.1f << false;
}

void UsageTests::symmetricOnSkewed()
{
    QFETCH(int, sign);
    QFETCH(bool, isSigned);
    QFETCH(float, scale);
    QFETCH(int, zero);
    QFETCH(float, size);
    QFETCH(bool, found);
    const Prepared q
        = isSigned ? negatedInCodes<int8_t>(scale, int8_t(zero)) : negatedInCodes<uint8_t>(scale, uint8_t(zero));
    const Comparison c = compared(negated(), q, values(sign, size));
    const Finding* f = findingOf(c, Rule::SymmetricOnSkewed);
    QCOMPARE(f != nullptr, found);
    if (!f)
        return;
    QCOMPARE(f->severity, Severity::Note);
    QCOMPARE(f->tensor, std::string("x"));
    QVERIFY(std::fabs(number(*f, "gain_db") - 20 * std::log10(2.0)) < 0.1);
    QCOMPARE(f->change.kind, RemedyKind::AsymmetricActivations);
    // The prediction holds: asymmetric codes of the same range measure it.
    const double half = scale * 127.0 / 255;
    const Prepared better
        = sign > 0 ? negatedInCodes<uint8_t>(float(half), 0) : negatedInCodes<uint8_t>(float(half), 255);
    const Comparison mended = compared(negated(), better, values(sign, size));
    const double gained = *mended.activations[0].localSqnrDb - *c.activations[0].localSqnrDb;
    QVERIFY2(std::fabs(gained - *f->expectedGainDb) < 1, qPrintable(QString::number(gained)));
}

void UsageTests::asymmetricRemedy()
{
    Recipe recipe;
    recipe.symmetricActivations = true;
    QuantOverride part;
    part.lowest = -4;
    part.highest = 4;
    recipe.tensors["a"].parts = { part };
    recipe.tensors["b"].parts = { part };
    const Prepared net = negated();
    const GraphDraft draft(std::make_shared<Model>(net.plan->model()));
    const Remedy remedy { RemedyKind::AsymmetricActivations, "n", "a", 0, 4, 0 };
    const Recipe mended = withRemedy(recipe, remedy, draft);
    QVERIFY(!mended.symmetricActivations);
    QCOMPARE(mended.tensors.at("a").parts[0].lowest, std::optional(0.0));
    QCOMPARE(mended.tensors.at("b").parts[0].lowest, std::optional(-4.0));
    QCOMPARE(remedyOptions(std::vector { remedy, remedy }),
        std::string("--no-symmetric-activations --tensor-range 'a=0:4'"));
    QCOMPARE(withRemedy(recipe, { RemedyKind::DynamicFormat, "n", "a", 0, 0, 0 }, draft).format, RecipeFormat::Dynamic);
    const Recipe fused = withRemedy(recipe, { RemedyKind::FuseGemm, "n", "a", 0, 0, 0 }, draft);
    QVERIFY(fused.preparation.enabled && fused.preparation.fuseGemm && !fused.preparation.foldBatchNorm);
    const Remedy other { .kind = RemedyKind::Calibrate, .calibrator = Calibrator::Mse };
    const Recipe calibrated = withRemedy(recipe, other, draft);
    QCOMPARE(calibrated.calibration.kind, Calibrator::Mse);
    QVERIFY(!calibrated.tensors.contains("b")); // ranges of their own would hide it
    QCOMPARE(remedyOptions(std::vector { other }), std::string("--method mse --data DATA"));
    const Remedy wide { .kind = RemedyKind::ActivationType, .type = DType::UInt16 };
    QCOMPARE(withRemedy(recipe, wide, draft).activationType, DType::UInt16);
    QCOMPARE(remedyOptions(std::vector { wide }), std::string("--activation-type uint16"));
}

void UsageTests::rangeVaries()
{
    // One loud sample among 16 decides the range: the others use a twentieth of it.
    const Comparison c = compared(product(), productInCodes(), spread(16, 0.05f));
    const Finding* f = findingOf(c, Rule::RangeVaries);
    QVERIFY2(f, qPrintable(rulesOf(c) + QString::number(rowOf(c, "x").localSqnrDb.value_or(0))));
    QCOMPARE(f->severity, Severity::Note);
    QCOMPARE(f->tensor, std::string("x"));
    const double expected = 10 * std::log10(16 / (1 + 15 * 0.05 * 0.05));
    QVERIFY(std::fabs(number(*f, "gain_db") - expected) < 1e-6);
    QVERIFY(std::fabs(number(*f, "median_sample_width") - 0.05) < 1e-6);
    QCOMPARE(f->change.kind, RemedyKind::DynamicFormat);
    // What ranges of each sample's own really give.
    const Comparison dynamic = compared(product(), dynamicProduct(), spread(16, 0.05f));
    const double gained = *rowOf(dynamic, "x").localSqnrDb - *rowOf(c, "x").localSqnrDb;
    QVERIFY2(std::fabs(gained - expected) < 2.5, qPrintable(QString::number(gained)));
    for (const auto& healthy : { compared(product(), productInCodes(), spread(16, 0.9f)),
             compared(product(), productInCodes(), spread(7, 0.05f, 7)) }) // seven samples tell nothing
        QVERIFY2(!findingOf(healthy, Rule::RangeVaries), qPrintable(rulesOf(healthy)));
}

void UsageTests::steadyDynamicRanges()
{
    const Comparison steady = compared(product(), dynamicProduct(), spread(16, 0.9f));
    const Finding* f = findingOf(steady, Rule::RangeVaries);
    QVERIFY2(f, qPrintable(rulesOf(steady)));
    QCOMPARE(f->places.size(), size_t(1));
    QCOMPARE(f->change.kind, RemedyKind::StaticFormat);
    QVERIFY(number(*f, "cost_db") > 0.5 && number(*f, "cost_db") < 1);
    const Comparison varying = compared(product(), dynamicProduct(), spread(16, 0.05f));
    QVERIFY2(!findingOf(varying, Rule::RangeVaries), qPrintable(rulesOf(varying)));
}

void UsageTests::accuracyDrop_data()
{
    QTest::addColumn<size_t>("labels");
    QTest::addColumn<size_t>("lost");
    QTest::addColumn<size_t>("gained");
    QTest::addColumn<QString>("severity");
    QTest::newRow("1 of 20 is 5 points, and chance") << size_t(20) << size_t(1) << size_t(0) << "note";
    QTest::newRow("5 of 20") << size_t(20) << size_t(5) << size_t(0) << "warning";
    QTest::newRow("20 lost, 12 gained of 360") << size_t(360) << size_t(20) << size_t(12) << "note";
    QTest::newRow("20 lost, 2 gained of 360") << size_t(360) << size_t(20) << size_t(2) << "warning";
    QTest::newRow("exactly one point") << size_t(100) << size_t(1) << size_t(0) << "";
    QTest::newRow("half a point of many") << size_t(10000) << size_t(60) << size_t(10) << "";
    QTest::newRow("better") << size_t(100) << size_t(0) << size_t(5) << "";
}

void UsageTests::accuracyDrop()
{
    QFETCH(size_t, labels);
    QFETCH(size_t, lost);
    QFETCH(size_t, gained);
    QFETCH(QString, severity);
    std::vector<Finding> found;
    findAccuracyDrop(withAccuracy(labels, lost, gained, labels * 9 / 10), found);
    QCOMPARE(found.size(), size_t(severity.isEmpty() ? 0 : 1));
    if (found.empty())
        return;
    QCOMPARE(QString::fromStdString(std::string(severityName(found[0].severity))), severity);
    QVERIFY(std::fabs(number(found[0], "chance") - chance(lost, gained)) < 1e-9);
    QVERIFY(std::fabs(number(found[0], "drop_points") - 100 * double(lost - gained) / double(labels)) < 1e-9);
    QVERIFY(!found[0].remedy.empty() && found[0].change.kind == RemedyKind::None);
}

void UsageTests::countsLostSamples()
{
    // The quantized model shifts class 1 up: samples between are lost or gained.
    const auto model = [](bool codes) {
        SmallModel m(codes ? "q" : "f");
        m.input("x", { 1, 2 });
        if (codes)
            m.qdq<uint8_t>("x", "x_dq", 1, 0);
        return m.node("Neg", { codes ? "x_dq" : "x" }, { "y" }).output("y").finish();
    };
    const auto sample = [](float a, float b) { return Tensor::of<float>({ 1, 2 }, { a, b }); };
    // Classes of the float model: 0, 1, 1, 0; rounded to whole numbers: 0, 0, 1, 0.
    const FixedData data({ sample(1, 5), sample(2.4f, 2), sample(7, 3), sample(1, 9) }, { 0, 1, 1, 1 });
    const Comparison c = compared(model(false), model(true), data);
    QVERIFY(c.accuracy);
    QCOMPARE(c.accuracy->lost, size_t(1));
    QCOMPARE(c.accuracy->gained, size_t(0));
}

void UsageTests::calibrationSet_data()
{
    QTest::addColumn<CalibrationSummary>("summary");
    QTest::addColumn<bool>("labelled");
    QTest::addColumn<QString>("word"); ///< of the title; empty: nothing is found
    const auto set = [](auto&& change) {
        CalibrationSummary s;
        s.samples = 100;
        s.extremes = true;
        s.settledAfter = 50; // which is half of them
        s.halfShare = 0.999;
        change(s);
        return s;
    };
    using S = CalibrationSummary;
    QTest::newRow("good") << set([](S&) {}) << true << "";
    QTest::newRow("still growing") << set([](S& s) {
        s.halfShare = 0.9;
        s.settledAfter = 90;
    }) << false << "few";
    QTest::newRow("growing, but not by extremes") << set([](S& s) {
        s.halfShare = 0.9;
        s.extremes = false;
    }) << false << "";
    QTest::newRow("enough by custom") << set([](S& s) {
        s.halfShare = 0.9;
        s.samples = 256;
    }) << false << "";
    QTest::newRow("a single one") << set([](S& s) {
        s.samples = s.settledAfter = 1;
        s.halfShare = 0;
    }) << false << "single";
    QTest::newRow("a class is missing") << set([](S& s) {
        s.labels = 100;
        s.classes = 3;
        s.largestClass = 0.4;
    }) << false << "missing";
    QTest::newRow("all classes") << set([](S& s) {
        s.labels = 100;
        s.classes = 4;
        s.largestClass = 0.4;
    }) << false << "";
    QTest::newRow("one class rules") << set([](S& s) {
        s.labels = 100;
        s.classes = 4;
        s.largestClass = 0.85;
    }) << false << "rules";
    QTest::newRow("repeated") << set([](S& s) { s.repeated = 20; }) << false << "equal";
    QTest::newRow("judged by itself") << set([](S& s) { s.judged = 50; }) << true << "itself";
    QTest::newRow("judged by itself, no accuracy to be proud of") << set([](S& s) { s.judged = 50; }) << false << "";
}

void UsageTests::calibrationSet()
{
    QFETCH(CalibrationSummary, summary);
    QFETCH(bool, labelled);
    QFETCH(QString, word);
    std::vector<Finding> found;
    findCalibrationSet(calibratedWith(summary, labelled), found);
    QCOMPARE(found.size(), size_t(word.isEmpty() ? 0 : 1));
    if (found.empty())
        return;
    QVERIFY2(QString::fromStdString(found[0].title).contains(word), found[0].title.c_str());
    QCOMPARE(found[0].severity, Severity::Note);
    QVERIFY(summary.settledAfter != 50 || found[0].summary.find("half of them") == std::string::npos);
    QVERIFY(found[0].tensor == "x" && !found[0].remedy.empty() && !found[0].evidence.empty());
}

void UsageTests::otherNormalization()
{
    // Calibrated for -1.9 to 1.9; what is fed lies between 0 and 1.
    std::vector<float> x(kCount);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(i) / float(kCount - 1);
    const FixedData data({ Tensor::of<float>({ kCount }, x) });
    const Comparison c = compared(negated(), negatedInCodes<uint8_t>(0.015f, 128), data);
    const Finding* f = findingOf(c, Rule::CalibrationSet);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QVERIFY2(f->summary.find("0..1") != std::string::npos, f->summary.c_str());
    const Comparison healthy = compared(negated(), negatedInCodes<uint8_t>(0.025f, 128), values(0));
    QVERIFY2(!findingOf(healthy, Rule::CalibrationSet), qPrintable(rulesOf(healthy)));
}

void UsageTests::splitProduct()
{
    const auto model = [](bool codes, bool between, const Shape& bias = { kDepth }) {
        const auto w = normals(kDepth * kDepth, 3);
        const auto b = Tensor::of<float>(bias, normals(kDepth, 5));
        SmallModel m(codes ? "q" : "f");
        m.input("x", { 4, kDepth }).constant("b", b);
        if (codes)
            m.weight("w", { kDepth, kDepth }, symmetricCodes(w, { 0.03f }), { 0.03f })
                .qdq<uint8_t>("x", "x_dq", 0.03f, 128);
        else
            m.constant("w", Tensor::of<float>({ kDepth, kDepth }, w));
        m.node("MatMul", { codes ? "x_dq" : "x", "w" }, { "p" });
        if (between)
            m.qdq<uint8_t>("p", "p_dq", 0.12f, 128);
        m.node("Add", { between ? "p_dq" : "p", "b" }, { "s" });
        if (codes)
            m.qdq<uint8_t>("s", "y", 0.12f, 128);
        else
            m.node("Identity", { "s" }, { "y" });
        return m.output("y").finish();
    };
    const Comparison apart = compared(model(false, false), model(true, true), spread(1, 1, 2));
    const Comparison whole = compared(model(false, false), model(true, false), spread(1, 1, 2));
    const Finding* f = findingOf(apart, Rule::SplitProduct);
    QVERIFY2(f, qPrintable(rulesOf(apart)));
    QCOMPARE(f->node, std::string("n_p"));
    QCOMPARE(f->change.kind, RemedyKind::FuseGemm);
    const double gained = *rowOf(whole, "s").accumulated.sqnrDb - *rowOf(apart, "s").accumulated.sqnrDb;
    QVERIFY2(std::fabs(number(*f, "gain_db") - gained) < 0.5, qPrintable(QString::number(gained)));
    QVERIFY2(!findingOf(whole, Rule::SplitProduct), qPrintable(rulesOf(whole)));
    const Shape wide { 1, 1, kDepth }; // no Gemm has such a bias: there is nothing to offer
    const Comparison apartWide = compared(model(false, false, wide), model(true, true, wide), spread(1, 1, 2));
    QVERIFY2(!findingOf(apartWide, Rule::SplitProduct), qPrintable(rulesOf(apartWide)));
}

void UsageTests::saturationRisk_data()
{
    QTest::addColumn<std::vector<int8_t>>("column"); ///< of a matrix with one
    QTest::addColumn<bool>("saturates");
    QTest::addColumn<double>("share");
    const auto codes = [](std::initializer_list<int> list) { return std::vector<int8_t>(list.begin(), list.end()); };
    QTest::newRow("two large of one sign") << codes({ 100, 29, 1, 1 }) << true << 0.5;
    QTest::newRow("at the limit") << codes({ 100, 28, 1, 1 }) << true << 0.0;
    QTest::newRow("signs differ") << codes({ 127, -127, 1, 1 }) << true << 0.0;
    QTest::newRow("both negative") << codes({ -100, -29, -127, -127 }) << true << 1.0;
    QTest::newRow("neighbours of different pairs") << codes({ 0, 127, 127, 0 }) << true << 0.0;
    QTest::newRow("a CPU with VNNI") << codes({ 127, 127, 127, 127 }) << false << 0.0;
}

void UsageTests::saturationRisk()
{
    QFETCH(std::vector<int8_t>, column);
    QFETCH(bool, saturates);
    QFETCH(double, share);
    const auto floats
        = SmallModel("f")
              .input("x", { 1, 4 })
              .constant("w", Tensor::of<float>({ 4, 1 }, std::vector<float>(column.begin(), column.end())))
              .node("MatMul", { "x", "w" }, { "y" })
              .output("y")
              .finish();
    const auto codes = SmallModel("q")
                           .input("x", { 1, 4 })
                           .weight("w", { 4, 1 }, column, { 1 })
                           .qdq<uint8_t>("x", "x_dq", 1, 0)
                           .node("MatMul", { "x_dq", "w" }, { "y" })
                           .output("y")
                           .finish();
    const ComparePair pair = pairOf(floats, codes);
    std::vector<Finding> found;
    findSaturationRisk(pair, Comparison {}, saturates, found);
    QCOMPARE(found.size(), size_t(share > 0 ? 1 : 0));
    if (share > 0)
        QVERIFY(std::fabs(number(found[0], "risky_share") - share) < 1e-12 && found[0].change.kind == RemedyKind::None);
    Comparison counted;
    counted.profile = ArithmeticProfile::IntegerAvx2;
    findSaturationRisk(pair, counted, true, found);
    QCOMPARE(found.size(), size_t(share > 0 ? 1 : 0)); // there it is counted, not guessed
}

void UsageTests::leftInFloat_data()
{
    QTest::addColumn<bool>("weight");
    QTest::addColumn<bool>("output");
    QTest::addColumn<QByteArray>("pool");
    QTest::addColumn<QStringList>("nodes");
    QTest::newRow("healthy") << true << true << QByteArray("MaxPool") << QStringList {};
    QTest::newRow("weight in float") << false << true << QByteArray("MaxPool") << QStringList { "n_c: structure" };
    // ONNX Runtime moves quantizers through what moves elements.
    QTest::newRow("a quantizer behind the pool") << true << false << QByteArray("MaxPool") << QStringList {};
    QTest::newRow("no quantizer behind") << true << false << QByteArray("AveragePool")
                                         << QStringList { "n_c: output", "n_r: structure", "n_y: structure" };
}

void UsageTests::leftInFloat()
{
    QFETCH(bool, weight);
    QFETCH(bool, output);
    QFETCH(QByteArray, pool);
    QFETCH(QStringList, nodes);
    const Comparison c = compared(convFloat(pool), convInCodes(weight, output, pool), pictures());
    QCOMPARE(floatNodesOf(c), nodes);
    const Finding* f = findingOf(c, Rule::LeftInFloat);
    QCOMPARE(f != nullptr, !nodes.isEmpty());
    if (!f)
        return;
    QCOMPARE(f->node, std::string("n_c"));
    QVERIFY(std::fabs(number(*f, "mac_share") - 1) < 1e-9); // the only product
    QVERIFY(whyFloat(c, "n_c") && !whyFloat(c, "n_x"));
    QVERIFY(f->summary.find(weight ? "has no quantizer" : "'w' is not quantized") != std::string::npos);
    QVERIFY(f->title.starts_with(
        weight ? "Conv computes in float, its output has no quantizer: " : "Conv is left in float: "));
}

void UsageTests::quantizersReasonComesFirst()
{
    ComparePair pair = pairOf(convFloat(), convInCodes(false, true));
    Provenance provenance;
    provenance.left = { { "n_c", "Conv", { FloatCause::Excluded, "the recipe excludes it" } },
        { "n_p", "MaxPool", { FloatCause::Opset, "MaxPool takes codes from opset 12 on, and the model has 11" } } };
    pair.provenance = std::make_shared<const Provenance>(provenance);
    const auto c = compareModels(pair, pictures(), {});
    QVERIFY(c.ok());
    QCOMPARE(floatNodesOf(*c), (QStringList { "n_c: excluded", "n_y: opset" }));
    const Finding* f = findingOf(*c, Rule::LeftInFloat);
    QVERIFY(f && f->places.size() == 2);
    QVERIFY(f->summary.find("the recipe excludes it") != std::string::npos);
}

QTEST_APPLESS_MAIN(UsageTests)
#include "usage_test.moc"
