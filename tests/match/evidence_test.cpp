// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/confidence.h"
#include "core/match/evidence/sketch_index.h"
#include "core/match/evidence/value_evidence.h"
#include "core/tensor/convert.h"
#include "tests/match/chains.h"

#include <QtTest>

#include <array>
#include <cmath>
#include <random>
#include <set>

using namespace qs;
using namespace qs::test;

/// What numbers say of values, without graphs being run: sketches are made by hand.
class EvidenceTests : public QObject {
    Q_OBJECT
private slots:
    void sketchesSeeDistance_data();
    void sketchesSeeDistance();
    void sketchesLookAtTheSamePlaces();
    void indexFindsAllThatIsNear_data();
    void indexFindsAllThatIsNear();
    void indexLooksAtFew();
    void verdicts();
    void valuesBelowHalfPrecision();
    void valuesOfAnotherBias();
    void sizesAreEqual();
    void namesThatLieAreRefused();
    void pairsByHandStay();
    void sharesAreShares();
};

namespace {

ValueSketch sketchOf(const std::vector<float>& x)
{
    ValueSketch sketch;
    sketch.add(Tensor::of<float>({ int64_t(x.size()) }, x));
    return sketch;
}

std::vector<float> scaled(std::vector<float> x, float factor)
{
    for (float& v : x)
        v *= factor;
    return x;
}

constexpr Closeness kExact { 0.03, 3, 10, true, true };

/// x -> Exp -> a -> Neg -> b.
Prepared expNeg()
{
    SmallModel m("f");
    m.input("x", { 300 }).node("Exp", { "x" }, { "a" }).node("Neg", { "a" }, { "b" });
    return m.output("b").finish();
}

} // namespace

void EvidenceTests::sketchesSeeDistance_data()
{
    QTest::addColumn<std::vector<float>>("x");
    QTest::addColumn<std::vector<float>>("y");
    QTest::addColumn<double>("least");
    QTest::addColumn<double>("most");
    const std::vector<float> x = normals(500, 3);
    QTest::newRow("equal") << x << x << 0. << 0.;
    QTest::newRow("one percent") << x << scaled(x, 1.01f) << 0.003 << 0.02;
    QTest::newRow("another") << x << normals(500, 4) << 0.5 << 2.;
    std::vector<float> relu = x;
    for (float& v : relu)
        v = std::max(v, 0.f);
    QTest::newRow("behind an activation") << x << relu << 0.3 << 2.;
    std::vector<float> masked = x, other = normals(500, 4);
    for (size_t i = 0; i < 100; ++i)
        masked[5 * i] = other[5 * i] = -1e4f;
    QTest::newRow("huge ones hide nothing") << masked << other << 0.3 << 2.;
    std::vector<float> most = x, others = normals(500, 4), half = x, mask(500), lowest(500);
    for (size_t i = 0; i < 500; ++i)
        if (i % 3 > 0) {
            most[i] = others[i] = -1e4f;
            half[i] = lowest[i] = -65504;
            mask[i] = -3.4e38f;
        }
    QTest::newRow("nor do most of them") << most << others << 0.3 << 2.;
    QTest::newRow("another number of masks") << most << half << 0. << 0.;
    QTest::newRow("masks alone") << mask << lowest << 0. << 0.;
    QTest::newRow("a mask and another") << mask << scaled(others, -1) << 1. << 2.;
    std::vector<float> undefined = x;
    for (size_t i = 0; i < 50; ++i)
        undefined[10 * i] = NAN;
    QTest::newRow("not a number in both") << undefined << undefined << 0. << 0.;
    QTest::newRow("not a number in one") << undefined << x << 0.05 << 0.5;
}

void EvidenceTests::sketchesSeeDistance()
{
    QFETCH(std::vector<float>, x);
    QFETCH(std::vector<float>, y);
    QFETCH(double, least);
    QFETCH(double, most);
    const double d = sketchOf(x).distance(sketchOf(y)), back = sketchOf(y).distance(sketchOf(x));
    QVERIFY2(d >= least && d <= most, qPrintable(QString::number(d)));
    QCOMPARE(back, d);
}

void EvidenceTests::sketchesLookAtTheSamePlaces()
{
    // Large tensors are looked at in places: a reshape has the same, another size has none.
    const std::vector<float> x = normals(96 * 64, 5);
    ValueSketch flat, shaped;
    flat.add(Tensor::of<float>({ 96 * 64 }, x));
    shaped.add(Tensor::of<float>({ 96, 64 }, x));
    QVERIFY(flat.size() < x.size());
    QCOMPARE(flat.distance(shaped), 0.);
    QVERIFY(std::isinf(flat.distance(sketchOf(normals(96, 5)))));
    // One row that differs is seen, so places have no period in common with the axes.
    std::vector<float> column = x;
    for (size_t r = 0; r < 96; ++r)
        column[r * 64 + 7] += 10;
    QVERIFY(flat.distance(sketchOf(column)) > 0);
    QVERIFY(!sketchOf(std::vector<float>(9, 2.f)).tells());
    QVERIFY(flat.tells());
}

void EvidenceTests::indexFindsAllThatIsNear_data()
{
    QTest::addColumn<size_t>("elements");
    QTest::addColumn<double>("limit");
    for (const size_t elements : { 2, 3, 7, 8, 9, 64, 192, 1000 })
        for (const double limit : { 1e-4, 0.003, 0.03, 0.05 })
            QTest::addRow("%zu, %g", elements, limit) << elements << limit;
}

void EvidenceTests::indexFindsAllThatIsNear()
{
    QFETCH(size_t, elements);
    QFETCH(double, limit);
    std::mt19937 random(unsigned(elements) + 11);
    std::normal_distribution<float> normal;
    std::vector<ValueSketch> sketches;
    std::vector<float> x;
    while (sketches.size() < 600) { // families whose members differ by more and more, in size and sign, too
        const float noise = std::pow(10.f, -float(random() % 5));
        if (sketches.size() % 20 == 0)
            x = scaled(normals(elements, unsigned(random())), std::pow(2.f, float(random() % 9) - 4));
        else
            for (float& v : x)
                v = random() % 50 == 0 ? std::array { 0.f, NAN, INFINITY, -v }[random() % 4]
                                       : v * (1 + noise * normal(random)) + 0.01f * noise * normal(random);
        if (const ValueSketch sketch = sketchOf(x); sketch.tells())
            sketches.push_back(sketch);
        else
            x = normals(elements, unsigned(random()));
    }
    SketchIndex index;
    for (size_t i = 0; i < sketches.size(); ++i)
        index.add(ValueId(i), sketches[i]);
    index.build();
    size_t near = 0;
    for (const ValueSketch& sketch : sketches) {
        std::set<ValueId> found;
        index.visit(sketch, limit, [&](ValueId id) {
            found.insert(id);
            return limit;
        });
        for (size_t i = 0; i < sketches.size(); ++i)
            if (!sketch.isFarFrom(sketches[i]) && sketch.distance(sketches[i]) <= limit) {
                ++near;
                QVERIFY2(found.contains(ValueId(i)), qPrintable(QString::number(sketch.distance(sketches[i]))));
            }
    }
    QVERIFY(near >= sketches.size());
}

void EvidenceTests::indexLooksAtFew()
{
    SketchIndex index;
    std::vector<ValueSketch> sketches;
    for (unsigned i = 0; i < 4000; ++i) {
        sketches.push_back(sketchOf(normals(64, i + 1)));
        index.add(ValueId(i), sketches.back());
    }
    index.build();
    size_t looked = 0;
    for (const ValueSketch& sketch : sketches)
        index.visit(sketch, 0.03, [&](ValueId) { return ++looked, 0.03; });
    QVERIFY2(looked < 20 * sketches.size(), qPrintable(QString::number(looked))); // of 4000 each
}

void EvidenceTests::verdicts()
{
    // Float: x -> a -> b, where b is what the quantized file has as v; a has no counterpart.
    const Prepared f = expNeg();
    const std::vector<float> x = normals(300, 1), a = normals(300, 2), b = normals(300, 3), w = normals(300, 4);
    const ValueId u(0), v(1), single(2), flat(3);
    Sketches floats { { f.value("x"), sketchOf(x) }, { f.value("a"), sketchOf(a) }, { f.value("b"), sketchOf(b) } };
    Sketches quants { { u, sketchOf(scaled(x, 1.000001f)) }, { v, sketchOf(b) }, { single, sketchOf(w) },
        { flat, sketchOf(std::vector<float>(300, 1.f)) } };
    const ValueEvidence evidence(f.graph(), floats, quants, kExact);
    QCOMPARE(evidence.verdict(f.value("x"), u), Verdict::Same);
    QCOMPARE(evidence.verdict(f.value("b"), v), Verdict::Same);
    QCOMPARE(evidence.verdict(f.value("x"), v), Verdict::Different); // both are something else
    QCOMPARE(evidence.verdict(f.value("a"), v), Verdict::Different);
    QCOMPARE(evidence.verdict(f.value("a"), single), Verdict::Different); // what follows is the same: it is fused away
    QCOMPARE(evidence.verdict(f.value("b"), flat), Verdict::Unknown); // a constant value tells nothing
    QVERIFY(evidence.equalsOfFloat(f.value("b")) == std::vector<ValueId> { v });
    QVERIFY(evidence.equalsOfFloat(f.value("a")).empty());
    QVERIFY(evidence.equalsOfQuant(u) == std::vector<ValueId> { f.value("x") });

    // Behind the first disagreement nothing is known.
    const ValueEvidence apart(f.graph(), floats, { { u, sketchOf(x) }, { v, sketchOf(w) } }, kExact);
    QCOMPARE(apart.verdict(f.value("b"), v), Verdict::Unknown);
    QCOMPARE(apart.verdict(f.value("a"), v), Verdict::Unknown);
}

/// Most of a sharp Softmax is zero in float16.
void EvidenceTests::valuesBelowHalfPrecision()
{
    std::vector<float> x, other;
    for (int i = 0; i < 150; ++i) {
        x.push_back(std::exp(-0.2f * float(i)));
        other.push_back(x.back() * (i % 2 == 0 ? 0.5f : 1.5f));
    }
    std::vector<float> rounded;
    for (const float v : x)
        rounded.push_back(float16ToFloat(floatToFloat16(v)));
    const ValueSketch half = sketchOf(rounded);
    QVERIFY(!sketchOf(x).isFarFrom(half) && !half.isFarFrom(sketchOf(x)));
    QVERIFY2(sketchOf(x).distance(half) < 0.03, qPrintable(QString::number(sketchOf(x).distance(half))));
    QVERIFY(sketchOf(x).distance(sketchOf(other)) > 0.1);
    QVERIFY(sketchOf(scaled(x, 1e-9f)).usual() > 0); // all of it: small, and something all the same
}

void EvidenceTests::valuesOfAnotherBias()
{
    // Between equal values stands one that is near its partner and not the same, as where biases were corrected.
    const Prepared f = expNeg();
    const std::vector<float> x = normals(300, 1), a = normals(300, 2), b = normals(300, 3);
    std::vector<float> corrected = a;
    for (float& v : corrected)
        v += 0.1f;
    const ValueId u(0), v(1), w(2), other(3);
    const ValueEvidence evidence(f.graph(),
        { { f.value("x"), sketchOf(x) }, { f.value("a"), sketchOf(a) }, { f.value("b"), sketchOf(b) } },
        { { u, sketchOf(x) }, { v, sketchOf(corrected) }, { w, sketchOf(b) }, { other, sketchOf(normals(300, 4)) } },
        kExact);
    QCOMPARE(evidence.verdict(f.value("a"), v), Verdict::Unknown); // names and structure tell
    QCOMPARE(evidence.verdict(f.value("a"), other), Verdict::Different);
}

void EvidenceTests::sizesAreEqual()
{
    const auto count = [](int64_t n) {
        ValueSketch sketch;
        sketch.add(Tensor::of<int64_t>({ 1 }, { n }));
        return sketch;
    };
    const Prepared f = SmallModel("f")
                           .input("x", { 2, 8 })
                           .input("k", { 1 }, DType::Int64)
                           .constant("one", Tensor::of<int64_t>({ 1 }, { 1 }))
                           .node("Shape", { "x" }, { "s" })
                           .node("Gather", { "s", "one" }, { "g" })
                           .node("Mul", { "k", "g" }, { "m" })
                           .output("m")
                           .finish();
    const ValueId eight(0), sixteen(1);
    const ValueEvidence evidence(f.graph(), { { f.value("g"), count(8) }, { f.value("m"), count(8) } },
        { { eight, count(8) }, { sixteen, count(16) } }, kExact);
    QCOMPARE(evidence.verdict(f.value("g"), eight), Verdict::Unknown); // many sizes are equal
    QCOMPARE(evidence.verdict(f.value("g"), sixteen), Verdict::Different);
    QCOMPARE(evidence.verdict(f.value("m"), sixteen), Verdict::Unknown); // it follows from data, which noise may change
}

void EvidenceTests::namesThatLieAreRefused()
{
    // The quantized file has the names of two values exchanged.
    const auto build = [](const char* path, const char* first, const char* second) {
        return SmallModel(path)
            .input("x", { 50 })
            .node("Sigmoid", { "x" }, { first })
            .node("Sigmoid", { first }, { second })
            .node("Sigmoid", { second }, { "y" })
            .output("y")
            .finish();
    };
    const Prepared f = build("f", "a", "b"), q = build("q", "b", "a");
    const auto believed = alignOf(f, q);
    QVERIFY2(believed.ok(), qPrintable(sentence(believed)));
    QCOMPARE(pairOf(f, *believed, "a")->quantValue, q.value("a"));
    Sketches floats, quants;
    for (const auto& [ofFloat, ofQuant, seed] :
        { std::tuple("x", "x", 1u), { "a", "b", 2u }, { "b", "a", 3u }, { "y", "y", 4u } }) {
        floats.emplace(f.value(ofFloat), sketchOf(normals(50, seed)));
        quants.emplace(q.value(ofQuant), sketchOf(normals(50, seed)));
    }
    const ValueEvidence evidence(f.graph(), floats, quants, kExact);
    const auto found = align(*f.plan, *q.plan, *q.view, {}, false, &evidence);
    QVERIFY2(found.ok(), qPrintable(sentence(found)));
    QCOMPARE(pairsOf(f, q, *found), (QStringList { "x=x", "a=b", "b=a", "y=y" }));
    for (const ValuePair& p : found->values)
        QVERIFY(p.confidence > 0.99);
}

void EvidenceTests::pairsByHandStay()
{
    const Prepared f = convChain(), q = convChain();
    Sketches floats, quants;
    for (const auto& [name, seed] : { std::pair("x", 1u), { "c1", 2u }, { "r1", 3u }, { "y", 4u } }) {
        floats.emplace(f.value(name), sketchOf(normals(100, seed)));
        quants.emplace(q.value(name), sketchOf(normals(100, seed)));
    }
    const ValueEvidence evidence(f.graph(), floats, quants, kExact);
    const auto found = align(*f.plan, *q.plan, *q.view, { { { "c1", "r1" } }, {} }, false, &evidence);
    QVERIFY2(found.ok(), qPrintable(sentence(found)));
    QVERIFY(pairOf(f, *found, "c1"));
    QCOMPARE(pairOf(f, *found, "c1")->quantValue, q.value("r1"));
    QCOMPARE(pairOf(f, *found, "c1")->method, MatchMethod::Manual);
    QCOMPARE(found->disputed.size(), size_t(1));
    QVERIFY(found->disputed[0] == std::pair(f.value("c1"), q.value("r1")));
}

void EvidenceTests::sharesAreShares()
{
    using enum MatchMethod;
    for (const MatchMethod method : { Name, Suffix, Unit, Topology, Numeric }) {
        double before = 0;
        for (const Proof proof : { Proof::None, Proof::Rounded, Proof::StoredWeights, Proof::Exact }) {
            const double share = confidenceOf(method, proof, 1);
            QVERIFY(share >= before && share < 1);
            before = share;
        }
        QCOMPARE(confidenceOf(method, Proof::None, 0.6), 0.6); // structure itself is not sure
    }
    QCOMPARE(confidenceOf(Manual, Proof::None, 1), 1.);
}

int runEvidenceTests(int argc, char** argv)
{
    EvidenceTests test;
    return QTest::qExec(&test, argc, argv);
}
#include "evidence_test.moc"
