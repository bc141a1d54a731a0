// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment_state.h"
#include "core/match/graph/canonical.h"
#include "core/match/units/fused_units.h"
#include "tests/match/fused_attention.h"

#include <QtTest>

#include <set>

using namespace qs;
using namespace qs::test;

/// What one file computes in one node and the other in several.
class UnitsTests : public QObject {
    Q_OBJECT
private slots:
    void insides_data();
    void insides();
    void movedBiases();
    void movedBiasesOfCodes();
    void reasons_data();
    void reasons();
    void whatIsFoundIsKept();
};

namespace {

/// Values of equal names are pairs, all others have none.
Alignment byNames(const Prepared& f, const Prepared& q)
{
    Alignment a;
    const CanonicalGraph floats(*f.plan, nullptr), quants(*q.plan, q.view.get());
    std::set<ValueId> taken;
    for (const ValueId id : floats.activations()) {
        const ValueId other = q.value(f.graph().value(id).name);
        if (!other.valid() || q.plan->constant(other)) {
            a.unmatchedFloat.push_back(id);
            continue;
        }
        a.values.push_back({ id, other, MatchMethod::Name, 1, std::nullopt, NodeId() });
        taken.insert(other);
    }
    for (const ValueId id : quants.activations())
        if (!taken.contains(id))
            a.unmatchedQuant.push_back(id);
    return a;
}

Alignment unitsOf(const Prepared& f, const Prepared& q)
{
    Alignment a = byNames(f, q);
    addUnits(*f.plan, *q.plan, *q.view, a);
    return a;
}

/// "value in node", sorted.
QStringList insideOf(const std::vector<InsideValue>& inside, const Prepared& m, const Prepared& other)
{
    QStringList list;
    for (const InsideValue& v : inside)
        list << QString::fromStdString(m.graph().value(v.value).name + " in " + other.graph().node(v.node).name);
    list.sort();
    return list;
}

/// No value is in two of: pairs, insides, the list of what is alone.
bool listsAreApart(const Alignment& a)
{
    std::set<ValueId> floats, quants;
    bool apart = true;
    for (const ValuePair& p : a.values) {
        apart = floats.insert(p.floatValue).second && apart;
        apart = quants.insert(p.quantValue).second && apart;
    }
    for (const InsideValue& v : a.insideFloat)
        apart = floats.insert(v.value).second && apart;
    for (const InsideValue& v : a.insideQuant)
        apart = quants.insert(v.value).second && apart;
    for (const ValueId id : a.unmatchedFloat)
        apart = floats.insert(id).second && apart;
    for (const ValueId id : a.unmatchedQuant)
        apart = quants.insert(id).second && apart;
    return apart;
}

} // namespace

void UnitsTests::insides_data()
{
    QTest::addColumn<Prepared>("apart");
    QTest::addColumn<Prepared>("fused");
    QTest::addColumn<QStringList>("inside"); // values of the file with single steps
    QTest::addColumn<QStringList>("left"); // of both files
    const auto row = [](const char* name, const FusedCase& c) {
        QStringList inside = c.inside;
        inside.sort();
        QTest::newRow(name) << c.apart << c.fused << inside << c.left;
    };
    row("BiasGelu", biasGelu());
    row("two BiasGelu, one behind the other", twoGelus());
    row("SkipLayerNormalization", skipNormalization(false));
    row("SkipLayerNormalization with the sum", skipNormalization(true));
    row("LayerNormalization inside a residual sum", residualAround());
    row("Attention", attention());
    row("two Attentions that read one mask", twoAttentions());
    row("a mask by way of an embedding", maskOfEmbedding());
    row("FusedMatMul", fusedMatMul());
    row("Conv with normalization and Relu", fusedConv());
    row("EmbedLayerNormalization", embedding());
    row("a source that the one node does not read", foreignSource());
    row("a step that the other file lacks", missingStep());
    row("several steps in both files", severalSteps());
}

void UnitsTests::insides()
{
    QFETCH(Prepared, apart);
    QFETCH(Prepared, fused);
    QFETCH(QStringList, inside);
    QFETCH(QStringList, left);
    const Alignment a = unitsOf(apart, fused), b = unitsOf(fused, apart);
    QCOMPARE(insideOf(a.insideFloat, apart, fused), inside);
    QCOMPARE(a.insideQuant.size(), size_t(0));
    QCOMPARE(namesOf(apart, a.unmatchedFloat) + namesOf(fused, a.unmatchedQuant), left);
    QCOMPARE(insideOf(b.insideQuant, apart, fused), inside);
    QCOMPARE(b.insideFloat.size(), size_t(0));
    QCOMPARE(namesOf(apart, b.unmatchedQuant) + namesOf(fused, b.unmatchedFloat), left);
    QVERIFY(listsAreApart(a) && listsAreApart(b));
}

void UnitsTests::movedBiases()
{
    // Each file has a product that is inside an operator of the other one.
    const FusedCase c = movedBias();
    const Alignment a = unitsOf(c.apart, c.fused), b = unitsOf(c.fused, c.apart);
    QCOMPARE(insideOf(a.insideFloat, c.apart, c.fused), c.inside);
    QCOMPARE(insideOf(a.insideQuant, c.fused, c.apart), QStringList { "bare in n_m" });
    QCOMPARE(namesOf(c.apart, a.unmatchedFloat), c.left);
    QCOMPARE(insideOf(b.insideQuant, c.apart, c.fused), c.inside);
    QCOMPARE(insideOf(b.insideFloat, c.fused, c.apart), QStringList { "bare in n_m" });
    QVERIFY(listsAreApart(a) && listsAreApart(b));
}

void UnitsTests::movedBiasesOfCodes()
{
    const FusedCase c = movedBiasOfCodes();
    const Alignment a = unitsOf(c.fused, c.apart);
    QCOMPARE(insideOf(a.insideQuant, c.apart, c.fused), c.inside);
    QCOMPARE(insideOf(a.insideFloat, c.fused, c.apart), QStringList { "bare in n_m" });
    QVERIFY(a.unmatchedFloat.empty() && a.unmatchedQuant.empty() && listsAreApart(a));
}

void UnitsTests::reasons_data()
{
    QTest::addColumn<Prepared>("f");
    QTest::addColumn<Prepared>("q");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("why");
    const auto chain = [](const std::string& last) {
        SmallModel m("m");
        m.input("x", { 2, 6 }).node("Exp", { "x" }, { "e" });
        if (last == "Relu")
            m.node("Relu", { "e" }, { "r" }).node("Neg", { "r" }, { "y" });
        else
            m.node("Neg", { "e" }, { "y" });
        if (last == "unread")
            m.node("Sin", { "e" }, { "s" });
        if (last == "constant")
            m.node("Cos", { "x" }, { "c" }).node("Mul", { "c", "y" }, { "z" }).output("z");
        if (last == "constant there")
            m.constant("c", Tensor::of<float>({ 1 }, { 2.f })).node("Mul", { "c", "y" }, { "z" }).output("z");
        return m.output("y").finish();
    };
    QTest::newRow("removed activation") << chain("Relu") << chain("") << "r"
                                        << "removed_activation";
    QTest::newRow("unread") << chain("unread") << chain("") << "s"
                            << "unread";
    QTest::newRow("constant") << chain("constant") << chain("constant there") << "c"
                              << "constant";
    const FusedCase steps = severalSteps();
    QTest::newRow("other steps") << steps.apart << steps.fused << "a"
                                 << "other_steps";
    const FusedCase missing = missingStep();
    QTest::newRow("missing step") << missing.apart << missing.fused << "e"
                                  << "";
    QTest::newRow("unknown") << chain("constant") << chain("") << "c"
                             << "";
}

void UnitsTests::reasons()
{
    QFETCH(Prepared, f);
    QFETCH(Prepared, q);
    QFETCH(QString, value);
    QFETCH(QString, why);
    const Alignment a = unitsOf(f, q), b = unitsOf(q, f);
    const auto nameOf = [&](const std::map<ValueId, WhyAlone>& reasons) {
        const auto it = reasons.find(f.value(value.toStdString()));
        if (it == reasons.end())
            return QString();
        const std::string_view name = whyAloneName(it->second);
        return QString::fromUtf8(name.data(), qsizetype(name.size()));
    };
    QCOMPARE(nameOf(a.whyFloat), why);
    QCOMPARE(nameOf(b.whyQuant), why);
}

void UnitsTests::whatIsFoundIsKept()
{
    const FusedCase c = twoGelus(), steps = severalSteps();
    for (const FusedCase* kind : { &c, &steps }) {
        const Alignment a = unitsOf(kind->apart, kind->fused);
        const std::string bytes = alignmentBytes(a);
        Alignment back;
        QVERIFY(readAlignment(bytes, kind->apart.graph(), kind->fused.graph(), SIZE_MAX, back));
        QCOMPARE(alignmentBytes(back), bytes);
        QCOMPARE(
            insideOf(back.insideFloat, kind->apart, kind->fused), insideOf(a.insideFloat, kind->apart, kind->fused));
        QVERIFY(back.whyFloat == a.whyFloat);
        QVERIFY(!readAlignment(std::string_view(bytes).substr(0, bytes.size() - 1), kind->apart.graph(),
            kind->fused.graph(), SIZE_MAX, back));
    }
}

#include "units_test.moc"

int runUnitsTests(int argc, char** argv)
{
    UnitsTests tests;
    return QTest::qExec(&tests, argc, argv);
}
