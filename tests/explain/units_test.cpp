// SPDX-License-Identifier: GPL-3.0-or-later
// What integer profiles compute in one step is explained to the bit.
#include "tests/engine/qdq_nets.h"
#include "tests/explain/explained.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

constexpr ArithmeticProfile kProfiles[]
    = { ArithmeticProfile::Simulated, ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 };

} // namespace

class UnitsTest : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_seed = std::random_device {}();
        m_random.seed(m_seed);
    }

    void everyUnit_data()
    {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("profile");
        for (size_t i = 0; i < unitCases().size(); ++i)
            for (const ArithmeticProfile profile : kProfiles)
                QTest::addRow("%s, %s", unitCases()[i].name, profileName(profile).data()) << int(i) << int(profile);
    }

    void everyUnit()
    {
        QFETCH(int, index);
        QFETCH(int, profile);
        QdqNet net;
        unitCases()[size_t(index)].build(net);
        const auto plan = net.plan(ArithmeticProfile(profile));
        const ExplainedRun run(plan, ArithmeticProfile(profile), feedOf(*plan, m_random()));
        const std::string found = run.complaints(m_random, 5);
        QVERIFY2(found.empty(), (found + ", seed " + std::to_string(m_seed)).c_str());
    }

    /// Under the integer profile the unit's operator and its nodes are named, and what it reads are the file's values.
    void namesTheFilesValues()
    {
        QdqNet net;
        convTo(net, kU8, kU8);
        const auto plan = net.plan();
        const ExplainedRun run(plan, ArithmeticProfile::Integer, feedOf(*plan, 3));
        const auto e = run.explain(plan->graph().findValue("y_q"), 7);
        QVERIFY(e.ok());
        QCOMPARE(e->unitOperator, std::string("QLinearConv"));
        QCOMPARE(e->node, std::string("conv"));
        QVERIFY(e->kind == ElementExplanation::Kind::Integer);
        QCOMPARE(e->sources.size(), size_t(3));
        QCOMPARE(e->sources[0].name, std::string("a_q"));
        QCOMPARE(e->sources[1].name, std::string("w_q"));
        QCOMPARE(e->sources[2].name, std::string("b_q"));
        QVERIFY(!e->sources[0].constant && e->sources[1].constant);
        QCOMPARE(e->terms.size(), size_t(4 * 3 * 3));
        const auto inside = run.explain(plan->graph().findValue("y_q"), 0);
        QVERIFY(inside.ok());
        const ExplainedModel model { plan, nullptr, ArithmeticProfile::Integer, nullptr, nullptr };
        const auto hidden
            = explainElement(model, { plan->graph().findValue("conv"), { 0, 0, 0, 0 }, 0, false }, {}, {});
        QVERIFY(!hidden.ok());
        QVERIFY(hidden.issue().remedy.find("'y_q'") != std::string::npos);
    }

    /// Every saturated pair that the engine counts is one of an explanation.
    void findsAllSaturatedPairs_data()
    {
        QTest::addColumn<int>("type");
        QTest::newRow("uint8") << int(kU8);
        QTest::newRow("int8, shifted") << int(kS8);
    }

    void findsAllSaturatedPairs()
    {
        QFETCH(int, type);
        QdqNet net;
        convTo(net, DType(type), DType(type));
        const auto plan = net.plan(ArithmeticProfile::IntegerAvx2);
        const ExplainedRun run(plan, ArithmeticProfile::IntegerAvx2, feedOf(*plan, 5));
        const ValueId y = plan->graph().findValue("y_q");
        uint64_t counted = 0, explained = 0, pairs = 0, all = 0;
        for (const auto& [node, counts] : run.pairCounts()) {
            all += counts.pairs;
            for (const uint64_t n : counts.saturated)
                counted += n;
        }
        for (int64_t i = 0; i < run.of(y).count(); ++i) {
            const auto e = run.explain(y, i);
            QVERIFY(e.ok() && e->confirmed == true && e->pairs);
            explained += e->saturated.size();
            pairs += *e->pairs;
            for (const SaturatedTerms& pair : e->saturated)
                QCOMPARE(pair.lost, pair.codes.sum() - pair.codes.kept());
        }
        QVERIFY(counted > 0);
        QCOMPARE(explained, counted);
        QCOMPARE(pairs, all);
    }

private:
    uint32_t m_seed = 0;
    std::mt19937 m_random;
};

QTEST_APPLESS_MAIN(UnitsTest)

#include "units_test.moc"
