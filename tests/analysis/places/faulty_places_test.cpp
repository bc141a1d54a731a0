// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/analysis/confirm/parting_place.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

using namespace qs;
using namespace qs::test;
using namespace std::string_literals;

/// What is paired around a fault, and where it is said to be.
namespace {

constexpr int64_t kRows = 32, kWidth = 16;
constexpr float kRoot = 1.41421356f;

Tensor sample(uint32_t seed) { return Tensor::of<float>({ kRows, kWidth }, normals(int(kRows * kWidth), seed)); }

Comparison proved(const ComparePair& pair)
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ sample(9) });
    auto result = compareModels(pair, data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

ComparePair confirmedPair(const Prepared& f, const Prepared& q)
{
    ComparePair pair = pairOf(f, q);
    auto found = confirmPairs(pair, {}, { { sample(101) }, { sample(102) } }, {});
    if (!found.ok())
        qFatal("%s", issueText(found.issue()).c_str());
    pair.alignment = std::make_shared<const Alignment>(std::move(found).value());
    return pair;
}

std::string partner(const ComparePair& pair, const std::string& name)
{
    const auto it
        = std::ranges::find(pair.alignment->values, pair.floatPlan->graph().findValue(name), &ValuePair::floatValue);
    return it == pair.alignment->values.end() ? std::string() : pair.quantPlan->graph().value(it->quantValue).name;
}

/// A product whose result is divided, or the same by a factor.
Prepared divided(bool codes, float alpha, bool factorInWeight)
{
    std::vector<float> w = uniform(size_t(kWidth * kWidth), 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (codes) {
        const float step = (factorInWeight ? kRoot : 1.f) / 127;
        for (float& v : w)
            v *= factorInWeight ? kRoot : 1.f;
        m.weight("w", { kWidth, kWidth }, symmetricCodes(w, { step }), { step });
        m.constant("r_codes", Tensor::scalar<uint8_t>(255)).constant("r_scale", Tensor::scalar(kRoot / 255));
        m.constant("r_zero", Tensor::scalar<uint8_t>(0));
        m.node("DequantizeLinear", { "r_codes", "r_scale", "r_zero" }, { "r" });
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w)).constant("factor", Tensor::scalar(1 / kRoot));
    }
    m.node("MatMul", { "x", "w" }, { "h" });
    const bool divides = codes || !factorInWeight;
    if (codes)
        m.node("Div", { "h", "r" }, { "s" });
    else if (divides)
        m.node("Mul", { "h", "factor" }, { "s" });
    return m.node("Elu", { divides ? "s" : "h" }, { "e" }, { { "alpha", alpha } })
        .node("Neg", { "e" }, { "y" })
        .output("y")
        .finish();
}

/// A branch that adds little to what it branches from, of which only that is left in the end.
Prepared residual(float alpha, float factor)
{
    SmallModel m("residual");
    m.input("x", { kRows, kWidth }).constant("little", Tensor::scalar(0.002f / factor));
    m.constant("factor", Tensor::scalar(factor));
    m.node("Elu", { "x" }, { "a" }, { { "alpha", alpha } }).node("Mul", { "a", "factor" }, { "b" });
    m.node("Mul", { "b", "little" }, { "c" }).node("Add", { "c", "x" }, { "d" }).node("Sub", { "d", "x" }, { "e" });
    return m.node("Neg", { "e" }, { "y" }).output("y").finish();
}

/// Two results of other sizes.
Prepared twoResults(bool codes)
{
    const std::vector<float> narrow = uniform(size_t(kWidth * 4), 5), wide = uniform(size_t(kWidth * 8), 6);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (codes)
        m.weight("u", { kWidth, 4 }, symmetricCodes(narrow, { 1.f / 127 }), { 1.f / 127 })
            .weight("v", { kWidth, 8 }, symmetricCodes(wide, { 1.f / 127 }), { 1.f / 127 });
    else
        m.constant("u", Tensor::of<float>({ kWidth, 4 }, narrow)).constant("v", Tensor::of<float>({ kWidth, 8 }, wide));
    const std::string tail = codes ? "_other" : "";
    m.node("MatMul", { "x", "u" }, { "p" + tail }).node("MatMul", { "x", "v" }, { "q" + tail });
    if (codes)
        return m.output("q_other").output("p_other").finish();
    return m.output("p").output("q").finish();
}

/// A step of two results, of which both readers read the second.
Prepared twoReaders(bool firstReads)
{
    SmallModel m("readers");
    m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "m" });
    m.node(
        firstReads ? "Mul" : "Abs", firstReads ? SmallModel::Names { "x", "m" } : SmallModel::Names { "x" }, { "b" });
    return m.node("Mul", { "b", "m" }, { "y" }).output("y").finish();
}

/// A result, in the other file with its columns in another order.
Prepared reversed(bool other)
{
    std::vector<int64_t> order(kWidth);
    for (int64_t i = 0; i < kWidth; ++i)
        order[size_t(i)] = kWidth - 1 - i;
    SmallModel m("reversed");
    m.input("x", { kRows, kWidth }).constant("order", Tensor::of<int64_t>({ kWidth }, order));
    m.node("Exp", { "x" }, { other ? "made" : "y" });
    if (other)
        m.node("Gather", { "made", "order" }, { "y" }, { { "axis", int64_t(1) } });
    return m.output("y").finish();
}

/// What stands around the normalization of steep().
struct Around {
    float step = 0.42f, common = 100; ///< of what it reads: the scale, and what all of it has in common
    bool between = false; ///< a node in float stands before it
    bool stored = true, dynamic = false; ///< the quantizer behind it; neither: none
    bool lost = false; ///< a constant that is added to what it reads holds zeros
};

/// A normalization of values that are little beside what they have in common, and beside the steps of that.
Prepared steep(bool codes, const Around& around = {})
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("common", Tensor::scalar(around.common));
    m.constant("one", Tensor::of<float>({ kWidth }, std::vector<float>(kWidth, 1)));
    m.constant(
        "added", Tensor::of<float>({ kWidth }, codes && around.lost ? std::vector<float>(kWidth) : uniform(kWidth, 4)));
    m.node("Add", { "x", "added" }, { "a" }).node("Add", { "a", "common" }, { "m" });
    if (codes)
        m.qdq<int8_t>("m", "m_dq", around.step, -128);
    std::string read = codes ? "m_dq" : "m";
    if (around.between)
        m.node("Neg", { read }, { "between" });
    m.node("LayerNormalization", { around.between ? "between" : read, "one" }, { "s" });
    const bool stored = codes && around.stored && !around.dynamic, dynamic = codes && around.dynamic;
    if (stored)
        m.qdq<int8_t>("s", "s_dq", 0.035f, 0);
    if (dynamic)
        m.node("DynamicQuantizeLinear", { "s" }, { "s_codes", "s_scale", "s_zero" })
            .node("DequantizeLinear", { "s_codes", "s_scale", "s_zero" }, { "s_dq" });
    return m.node("Neg", { stored || dynamic ? "s_dq" : "s" }, { "y" }).output("y").finish();
}

/// With one value of the float file without its partner.
ComparePair withoutPartner(ComparePair pair, const std::string& name)
{
    Alignment alignment = *pair.alignment;
    const ValueId value = pair.floatPlan->graph().findValue(name);
    std::erase_if(alignment.values, [&](const ValuePair& p) { return p.floatValue == value; });
    alignment.unmatchedFloat = { value };
    pair.alignment = std::make_shared<const Alignment>(std::move(alignment));
    return pair;
}

/// A table that is added to what is made of x, then a normalization; in the other file by other names.
Prepared withTable(bool codes, bool zeros)
{
    const std::string tail = codes ? "_other" : "";
    const std::vector<float> table
        = zeros ? std::vector<float>(size_t(kRows * kWidth)) : uniform(size_t(kRows * kWidth), 4);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("one", Tensor::of<float>({ kWidth }, std::vector<float>(kWidth, 1)));
    m.constant("table" + tail, Tensor::of<float>({ kRows, kWidth }, table));
    if (codes)
        m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
    m.node("Sin", { codes ? "x_dq" : "x" }, { "m" + tail }).node("Add", { "m" + tail, "table" + tail }, { "a" + tail });
    return m.node("LayerNormalization", { "a" + tail, "one" }, { "s" + tail })
        .node("Neg", { "s" + tail }, { "y" })
        .output("y")
        .finish();
}

/// x times what both files compute of a constant.
Prepared withConsequences(bool codes, float changed)
{
    std::vector<float> c = uniform(size_t(kWidth), 4);
    c[3] += changed;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("c", Tensor::of<float>({ kWidth }, c));
    if (codes)
        m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
    m.node("Exp", { "c" }, { "e" }).node("Neg", { "e" }, { "n" });
    return m.node("Mul", { codes ? "x_dq" : "x", "n" }, { "y" }).output("y").finish();
}

} // namespace

class FaultyPlacesTests : public QObject {
    Q_OBJECT
private slots:
    void smallConstants_data()
    {
        QTest::addColumn<float>("alpha");
        QTest::addColumn<bool>("factorInWeight");
        QTest::addColumn<bool>("told");
        QTest::newRow("one network") << 1.f << false << false;
        QTest::newRow("another function") << 0.3f << false << true;
        QTest::newRow("the factor stands in the weight") << 1.f << true << false;
    }
    /// A stored number that the float model does not have is no reason to tell nothing.
    void smallConstants()
    {
        QFETCH(float, alpha);
        QFETCH(bool, factorInWeight);
        QFETCH(bool, told);
        const Comparison c = proved(pairOf(divided(false, 1, factorInWeight), divided(true, alpha, factorInWeight)));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found && found->severity == Severity::Error) == told, qPrintable(rulesOf(c)));
        if (told)
            QVERIFY2(c.network->known() && !c.network->storedWeights && c.network->unpaired.size() == 1
                    && found->node == "n_e",
                qPrintable(rulesOf(c)));
    }

    void named_data()
    {
        QTest::addColumn<float>("alpha");
        QTest::addColumn<float>("factor");
        QTest::addColumn<std::string>("a");
        QTest::addColumn<std::string>("b");
        QTest::newRow("one network") << 1.f << 3.f << "a"s
                                     << "b"s;
        QTest::newRow("a fault whose effect is little for a while") << 0.2f << 3.f << "a"s
                                                                    << "b"s;
        QTest::newRow("a factor that moved") << 1.f << 6.f << "a"s
                                             << ""s;
    }
    /// The same step by name keeps its pair where a fault changes its numbers, and not where both files go on alike.
    void named()
    {
        QFETCH(float, alpha);
        QFETCH(float, factor);
        const ComparePair pair = confirmedPair(residual(1, 3), residual(alpha, factor));
        QTEST(partner(pair, "a"), "a");
        QTEST(partner(pair, "b"), "b");
        QCOMPARE(partner(pair, "y"), std::string("y"));
    }

    /// No name tells of outputs in another order, and their sizes say that they are not as they stand.
    void outputsInAnotherOrder()
    {
        const Prepared f = twoResults(false), q = twoResults(true);
        const Comparison c = proved(pairOf(f, q));
        QVERIFY2(c.network && c.network->same(), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        QCOMPARE(c.outputs.size(), size_t(2));
        for (const OutputRow& row : c.outputs)
            QVERIFY(row.similarity.sqnrDb && *row.similarity.sqnrDb > 30);
    }

    void placeBefore_data()
    {
        QTest::addColumn<bool>("firstReads");
        QTest::addColumn<std::string>("place");
        QTest::newRow("read here alone") << false << "m"s;
        QTest::newRow("read before by what agrees") << true << "y"s;
    }
    /// A value without a partner is the place where files part, unless what else is made of it agrees.
    void placeBefore()
    {
        QFETCH(bool, firstReads);
        const Prepared f = twoReaders(firstReads);
        const ComparePair pair = withoutPartner(pairOf(f, f), "m");
        QTEST(f.graph().value(firstOfUnmatched(pair, f.value("y"))).name, "place");
        const std::string before = orBefore(pair, f.value("y"));
        QCOMPARE(
            before.find("a value that leads there, from n_m on, has no partner") != std::string::npos, !firstReads);
    }

    /// Where the noise grew is not known where what a node reads has no partner.
    void growth()
    {
        const ComparePair pair = pairOf(steep(false), steep(true));
        const Comparison told = proved(pair), silent = proved(withoutPartner(pair, "m"));
        QVERIFY2(findingOf(told, Rule::SensitiveOperator), qPrintable(rulesOf(told)));
        QVERIFY2(!findingOf(silent, Rule::SensitiveOperator), qPrintable(rulesOf(silent)));
    }

    void growthInFloat_data()
    {
        QTest::addColumn<bool>("between");
        QTest::addColumn<bool>("stored");
        QTest::addColumn<bool>("dynamic");
        QTest::addColumn<bool>("lost");
        QTest::addColumn<bool>("told");
        QTest::newRow("between quantizers") << false << true << false << false << true;
        QTest::newRow("nothing quantizes what it makes") << false << false << false << false << false;
        QTest::newRow("what reads it quantizes for itself") << false << false << true << false << false;
        QTest::newRow("what it reads is in float") << true << true << false << false << false;
        QTest::newRow("a constant is lost") << false << true << false << true << false;
    }
    /// An operator that is in float already cannot be left there, nor does that mend what a lost constant makes.
    void growthInFloat()
    {
        QFETCH(const bool, between);
        QFETCH(const bool, stored);
        QFETCH(const bool, dynamic);
        QFETCH(const bool, lost);
        QFETCH(const bool, told);
        const Around around { 0.42f, 100, between, stored, dynamic, lost };
        const Comparison c = proved(pairOf(steep(false, around), steep(true, around)));
        const ActivationRow& row = rowOf(c, "s");
        QVERIFY(row.increaseDb.value_or(0) > 10 && *row.accumulated.sqnrDb < 20);
        QVERIFY2((findingOf(c, Rule::SensitiveOperator) != nullptr) == told, qPrintable(rulesOf(c)));
        QVERIFY2(!lost || c.findings.front().severity == Severity::Error, qPrintable(rulesOf(c)));
    }

    /// The range before it makes most of what grows here, and is told of first.
    void growthBehindACause()
    {
        const Around around { 10.3f / 255, 10, false, true, false, false };
        const Comparison c = proved(pairOf(steep(false, around), steep(true, around)));
        QVERIFY2(findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
        QCOMPARE(int(c.findings.front().rule), int(Rule::RangeTooSmall));
        QCOMPARE(c.findings.front().tensor, std::string("m"));
    }

    /// What adds a table of zeros makes what it reads, so it is no partner of what adds the float model's.
    void lostTable()
    {
        const Comparison c = proved(confirmedPair(withTable(false, false), withTable(true, true)));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->tensor, std::string("table"));
        QCOMPARE(found->node, std::string("n_a"));
        QVERIFY2(found->summary.find("table holds nothing but zeros") != std::string::npos, found->summary.c_str());
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Comparison healthy = proved(confirmedPair(withTable(false, false), withTable(true, false)));
        QVERIFY2(!findingOf(healthy, Rule::WeightsDiffer) && !findingOf(healthy, Rule::ModelsDiffer),
            qPrintable(rulesOf(healthy)));
    }

    /// What follows from a constant is not told of beside it.
    void consequences()
    {
        const Comparison c = proved(pairOf(withConsequences(false, 0), withConsequences(true, 2)));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->title, std::string("A constant is other than the float model's"));
        QCOMPARE(found->tensor, std::string("c"));
        QCOMPARE(c.network->step.roundings.size(), size_t(1));
    }

    /// All values agree, and the file goes on from the last one.
    void behindTheOutput()
    {
        const ComparePair pair = confirmedPair(reversed(false), reversed(true));
        QCOMPARE(partner(pair, "y"), std::string("made"));
        const Comparison c = proved(pair);
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("it is made in the quantized file, which makes its output of that by Gather 'n_y'")
                != std::string::npos,
            found->summary.c_str());
    }
};

QTEST_GUILESS_MAIN(FaultyPlacesTests)
#include "faulty_places_test.moc"
