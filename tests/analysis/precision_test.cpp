// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/measure/proof_state.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <functional>

using namespace qs;
using namespace qs::test;

/// Files that differ from the float model by the precision in which they store and compute.
namespace {

constexpr int64_t kIn = 32, kOut = 48;

/// Some are so small that float16 has no more than a few bits for them.
std::vector<float> weights(int64_t count, uint32_t seed)
{
    constexpr size_t kEach = 8;
    constexpr float kSmall = 1e-5f;
    std::vector<float> w = uniform(size_t(count), seed);
    for (size_t i = 0; i < w.size(); i += kEach)
        w[i] *= kSmall;
    return w;
}

const std::vector<float> kFirst = weights(kIn * kIn, 21), kSecond = weights(kIn * kOut, 22);
const Tensor kSample = Tensor::of<float>({ 2, kIn }, uniform(size_t(2 * kIn), 23));
constexpr int64_t kToFloat32 = 1, kToFloat16 = 10, kToBFloat16 = 16;

using Names = SmallModel::Names;
using Rounder = std::function<Tensor(const Tensor&)>;

/// x -> MatMul -> `inner` -> MatMul -> y, with its weights as `stored` leaves them.
Prepared layers(const Rounder& stored, const char* inner = "Tanh")
{
    SmallModel model("f");
    model.input("x", { 2, kIn }).constant("w", stored(Tensor::of<float>({ kIn, kIn }, kFirst)));
    model.constant("v", stored(Tensor::of<float>({ kIn, kOut }, kSecond)));
    model.node("MatMul", { "x", "w" }, { "m" }).node(inner, { "m" }, { "t" });
    return model.node("MatMul", { "t", "v" }, { "y" }).output("y").finish();
}

Prepared asIs(const char* inner = "Tanh")
{
    return layers([](const Tensor& t) { return t; }, inner);
}

Rounder to(Precision precision)
{
    return [precision](const Tensor& t) { return rounded(t, precision); };
}

/// Weights of 16 bits; computed in float32, or in that type as well.
Prepared halved(DType type, bool values, const char* inner = "Tanh")
{
    const int64_t half = type == DType::Float16 ? kToFloat16 : kToBFloat16;
    const auto low = [&](const Shape& shape, const std::vector<float>& x) {
        return convertedTo(Tensor::of<float>(shape, x), type);
    };
    SmallModel model("q");
    model.input("x", { 2, kIn }).constant("w_low", low({ kIn, kIn }, kFirst));
    model.constant("v_low", low({ kIn, kOut }, kSecond));
    if (!values) {
        model.node("Cast", { "w_low" }, { "w" }, { { "to", kToFloat32 } });
        model.node("Cast", { "v_low" }, { "v" }, { { "to", kToFloat32 } });
        model.node("MatMul", { "x", "w" }, { "m" }).node(inner, { "m" }, { "t" });
        return model.node("MatMul", { "t", "v" }, { "y" }).output("y").finish();
    }
    model.node("Cast", { "x" }, { "x_low" }, { { "to", half } }).node("MatMul", { "x_low", "w_low" }, { "m" });
    model.node(inner, { "m" }, { "t" }).node("MatMul", { "t", "v_low" }, { "y_low" });
    return model.node("Cast", { "y_low" }, { "y" }, { { "to", kToFloat32 } }).output("y").finish();
}

NetworkVerdict verdictOn(const ComparePair& pair, const Tensor& sample = kSample)
{
    const auto verdict = networkVerdict(proveNetwork(pair, { sample }), Comparison {});
    NetworkVerdict nothing;
    nothing.reason = "nothing";
    return verdict.value_or(nothing);
}

QString told(const NetworkVerdict& v)
{
    return QString("distance %1, tolerance %2, %3")
        .arg(v.distance.worstOutput.distance)
        .arg(v.distance.tolerance)
        .arg(QString::fromStdString(v.reason));
}

struct Twin {
    const char* name;
    std::function<Prepared()> twin, other; ///< `other`: of another network in the same precision
    Precision precision;
    bool weights, values;
};

std::vector<Twin> twins()
{
    const auto half = [](DType type, bool values) {
        return std::pair(std::function([=] { return halved(type, values); }),
            std::function([=] { return halved(type, values, "Sigmoid"); }));
    };
    const auto grid = [](Precision p) {
        return std::pair(
            std::function([=] { return layers(to(p)); }), std::function([=] { return layers(to(p), "Sigmoid"); }));
    };
    std::vector<Twin> all;
    const auto add = [&](const char* name, auto pair, Precision p, bool values) {
        all.push_back({ name, pair.first, pair.second, p, true, values });
    };
    add("float16 weights", half(DType::Float16, false), Precision::Float16, false);
    add("float16 throughout", half(DType::Float16, true), Precision::Float16, true);
    add("bfloat16 weights", half(DType::BFloat16, false), Precision::BFloat16, false);
    add("bfloat16 throughout", half(DType::BFloat16, true), Precision::BFloat16, true);
    add("on the grid of float16", grid(Precision::Float16), Precision::Float16, false);
    add("on the grid of tf32", grid(Precision::TensorFloat32), Precision::TensorFloat32, false);
    add("on the grid of bfloat16", grid(Precision::BFloat16), Precision::BFloat16, false);
    add("on the grid of float8", grid(Precision::Float8E4M3), Precision::Float8E4M3, false);
    return all;
}

/// The angle is large, so what a sum is rounded to moves its sine visibly: `factor` in the weight or behind it.
Prepared steep(bool inWeight, bool other = false)
{
    constexpr float kFactor = 5000;
    std::vector<float> w = kFirst;
    for (float& v : w)
        v *= inWeight ? kFactor : 1;
    SmallModel model("f");
    model.input("x", { 2, kIn }).constant("w", Tensor::of<float>({ kIn, kIn }, w));
    model.constant("factor", Tensor::scalar(inWeight ? 1 : kFactor)).node("MatMul", { "x", "w" }, { "m" });
    return model.node("Mul", { "m", "factor" }, { "a" })
        .node(other ? "Cos" : "Sin", { "a" }, { "y" })
        .output("y")
        .finish();
}

/// The class of two that are nearly as good, which rounding turns.
Prepared classes(bool half, bool other = false)
{
    const Tensor w = Tensor::of<float>({ 2, 2 }, { 1, other ? 3.f : 1.0001f, 1, 1 });
    SmallModel model("f");
    model.input("x", { 2, 2 }).constant("w", half ? rounded(w, Precision::Float16) : w);
    return model.node("MatMul", { "x", "w" }, { "m" })
        .node("ArgMax", { "m" }, { "y" }, { { "axis", int64_t(1) }, { "keepdims", int64_t(0) } })
        .output("y")
        .finish();
}

} // namespace

class PrecisionTests : public QObject {
    Q_OBJECT
private slots:
    void tellsTwins_data();
    void tellsTwins();
    void sumsInAnotherOrder();
    void indicesAreNotCompared();
    void flatSamplesTellNothing();
    void takesDataOfItsType();
    void keepsItsState();
    void roundsToTf32();
};

void PrecisionTests::tellsTwins_data()
{
    QTest::addColumn<int>("index");
    const auto all = twins();
    for (size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].name) << int(i);
}

/// The same in another precision is no other network, in either order; another network in that precision is one.
void PrecisionTests::tellsTwins()
{
    QFETCH(int, index);
    const Twin twin = twins()[size_t(index)];
    for (const bool inFloatFile : { false, true }) {
        const Prepared low = twin.twin();
        const NetworkVerdict same = verdictOn(inFloatFile ? pairOf(low, asIs()) : pairOf(asIs(), low));
        QVERIFY2(same.same(), qPrintable(told(same)));
        QCOMPARE(precisionName(same.step.precision), precisionName(twin.precision));
        QCOMPARE(same.step.weights, twin.weights);
        QCOMPARE(same.step.values, twin.values);
        QCOMPARE(same.step.inFloatFile, inFloatFile);
        QCOMPARE(same.step.inQuantizedFile, !inFloatFile);
        QVERIFY(same.distance.explained && *same.distance.explained > 0);
        QCOMPARE(same.step.roundings.size(), size_t(2));
        for (const WeightRounding& r : same.step.roundings) {
            QCOMPARE(r.precision, std::optional(twin.precision));
            QVERIFY2(r.distance > roundingOf(twin.precision) / 10 && r.distance < roundingOf(twin.precision),
                qPrintable(QString::number(r.distance)));
        }
    }
    const NetworkVerdict other = verdictOn(pairOf(asIs(), twin.other()));
    QVERIFY2(other.known() && !other.same(), qPrintable(told(other)));
}

/// What float32 itself explains is measured where it is more than the fixed tolerance.
void PrecisionTests::sumsInAnotherOrder()
{
    const NetworkVerdict same = verdictOn(pairOf(steep(false), steep(true)));
    QVERIFY2(same.distance.worstOutput.distance > kSameNetwork, qPrintable(told(same)));
    QVERIFY2(same.same(), qPrintable(told(same)));
    QVERIFY(!verdictOn(pairOf(steep(false), steep(true, true))).same());
}

void PrecisionTests::indicesAreNotCompared()
{
    const Tensor sample = Tensor::of<float>({ 2, 2 }, { 1, 0.5f, 0.25f, 1 });
    const NetworkVerdict same = verdictOn(pairOf(classes(false), classes(true)), sample);
    QVERIFY2(same.same(), qPrintable(told(same)));
    QVERIFY(!verdictOn(pairOf(classes(false), classes(false, true)), sample).same());
}

/// Zeros go through every network alike, so the next sample is looked at.
void PrecisionTests::flatSamplesTellNothing()
{
    const FixedData data(
        { Tensor::of<float>({ 2, 4 }, std::vector<float>(8, 0)), Tensor::of<float>({ 2, 4 }, uniform(8, 3, -1, 1)) });
    CompareOptions options;
    options.prove = true;
    const Comparison c = compared(product(true), productOnCodes(), data, options);
    QVERIFY(c.network && c.network->known() && !c.network->same());
    QVERIFY(findingOf(c, Rule::ModelsDiffer));
}

/// A twin whose inputs are float16 is given the float model's samples.
void PrecisionTests::takesDataOfItsType()
{
    SmallModel model("q");
    model.input("x", { 2, kIn }, DType::Float16);
    model.constant("w", convertedTo(Tensor::of<float>({ kIn, kIn }, kFirst), DType::Float16));
    model.constant("v", convertedTo(Tensor::of<float>({ kIn, kOut }, kSecond), DType::Float16));
    model.node("MatMul", { "x", "w" }, { "m" }).node("Tanh", { "m" }, { "t" });
    const Prepared q = model.node("MatMul", { "t", "v" }, { "y" }).output("y").finish();
    CompareOptions options;
    options.prove = true;
    const Comparison c = compared(asIs(), q, FixedData({ kSample }), options);
    QVERIFY(c.network && c.network->same());
    QVERIFY(c.network->step.values && c.network->step.weights);
    QVERIFY(!findingOf(c, Rule::ModelsDiffer));
}

void PrecisionTests::keepsItsState()
{
    const ComparePair pair = pairOf(asIs(), halved(DType::Float16, false));
    NetworkProof proof = proveNetwork(pair, { kSample });
    proof.reason = "a reason";
    proof.otherFunctions = { "one", "two" };
    ByteWriter out;
    writeProof(proof, out);
    writeProof(std::nullopt, out);
    ByteReader in(out.bytes());
    std::optional<NetworkProof> read, none;
    mergeProof(in, pair.floatPlan->graph(), read);
    mergeProof(in, pair.floatPlan->graph(), none);
    QVERIFY(in.ok() && in.atEnd() && read && !none);
    QCOMPARE(read->withFloatWeights->worstOutput.distance, proof.withFloatWeights->worstOutput.distance);
    QCOMPARE(read->withFloatWeights->explained, proof.withFloatWeights->explained);
    QCOMPARE(read->withStoredWeights.has_value(), proof.withStoredWeights.has_value());
    QCOMPARE(read->step.roundings.size(), proof.step.roundings.size());
    QCOMPARE(read->step.roundings[0].name, proof.step.roundings[0].name);
    QCOMPARE(read->reason, proof.reason);
    QCOMPARE(read->otherFunctions, proof.otherFunctions);
    ByteReader tooFew(std::string_view(out.bytes()).substr(0, out.bytes().size() / 2));
    mergeProof(tooFew, pair.floatPlan->graph(), none);
    QVERIFY(!tooFew.ok() && !none);
}

void PrecisionTests::roundsToTf32()
{
    QCOMPARE(rounded(1 + 0x1p-11f, Precision::TensorFloat32), 1.f); // half of a step: to even
    QCOMPARE(rounded(1 + 3 * 0x1p-11f, Precision::TensorFloat32), 1 + 0x1p-9f);
    QCOMPARE(rounded(-1e-30f, Precision::TensorFloat32) < 0, true); // the range of float32
    QCOMPARE(rounded(HUGE_VALF, Precision::TensorFloat32), HUGE_VALF);
}

QTEST_GUILESS_MAIN(PrecisionTests)
#include "precision_test.moc"
