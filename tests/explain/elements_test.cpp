// SPDX-License-Identifier: GPL-3.0-or-later
// Single elements: what their operands are, where they lie, what is said of them.
#include "tests/explain/explained.h"
#include "tests/explain/one_operator.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

class ElementsTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_random.seed(std::random_device {}()); }

    /// Padding is no term, and each other operand is where the formula says.
    void operandsOfAConvolution()
    {
        Case c(m_random);
        c.floats("x", { 1, 2, 4, 4 }).weight("w", { 3, 2, 3, 3 }).weight("b", { 3 });
        c.op("Conv", { "x", "w", "b" }, { { "pads", Ints { 1, 1, 1, 1 } } });
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedRun run(plan, ArithmeticProfile::Simulated, c.feed);
        const auto corner = run.explain(plan->graph().findValue("y"), 0);
        QVERIFY(corner.ok());
        QCOMPARE(corner->terms.size(), size_t(2 * 2 * 2));
        QVERIFY(corner->relation == Relation::Products && corner->kind == ElementExplanation::Kind::Float);
        for (const ElementTerm& term : corner->terms) {
            const Shape a = placeOf(corner->sources[term.a.source].shape, term.a.element);
            const Shape b = placeOf(corner->sources[term.b->source].shape, term.b->element);
            QCOMPARE(a[1], b[1]);
            QVERIFY(b[0] == 0 && a[2] == b[2] - 1 && a[3] == b[3] - 1);
        }
        QCOMPARE(corner->bias->element, int64_t(0));
        QVERIFY(corner->sources[1].constant && !corner->sources[0].constant);
    }

    void zeroPointsOfTheOperator_data()
    {
        QTest::addColumn<int>("own"); ///< -1: the operator has none
        QTest::addColumn<QString>("note");
        QTest::newRow("that of the codes") << 120 << QString();
        QTest::newRow("another") << 100 << "the zero point of 'q' is 120, the operator takes off 100";
        QTest::newRow("none") << -1 << "the zero point of 'q' is 120, the operator takes off 0";
    }

    /// What MatMulInteger takes off is its own zero point, and it is said where the codes have another.
    void zeroPointsOfTheOperator()
    {
        QFETCH(int, own);
        QFETCH(QString, note);
        Case c(m_random);
        c.floats("x", { 1, 5 }).grid<uint8_t>("x", 0.5f, 120).constant("w", c.codes<int8_t>({ 5, 1 }));
        c.model.node("QuantizeLinear", { "x", "x_s", "x_z" }, { "q" });
        SmallModel::Names in { "q", "w" };
        if (own >= 0) {
            c.constant("z", Tensor::scalar(static_cast<uint8_t>(own)));
            in.push_back("z");
        }
        c.op("MatMulInteger", in);
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedRun run(plan, ArithmeticProfile::Simulated, c.feed);
        const auto e = run.explain(plan->graph().findValue("y"), 0);
        QVERIFY(e.ok());
        QCOMPARE(QString::fromStdString(e->note), note);
        for (const ElementTerm& term : e->terms) {
            QCOMPARE(term.a.zeroPoint, int64_t(std::max(own, 0)));
            QCOMPARE(term.a.real, double(*term.a.code - term.a.zeroPoint) * 0.5);
        }
    }

    /// Codes behind floats are found through a Transpose, and their grid by channel.
    void codesBehindMovedFloats()
    {
        Case c(m_random);
        c.model.weight("wt", { 4, 3 }, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, { 0.5f, 0.25f, 1, 2 });
        c.model.node("Transpose", { "wt" }, { "w" });
        c.floats("x", { 2, 3 }).op("MatMul", { "x", "w" });
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedRun run(plan, ArithmeticProfile::Simulated, c.feed);
        const auto e = run.explain(plan->graph().findValue("y"), 1); // row 0, column 1
        QVERIFY(e.ok());
        QCOMPARE(e->terms.size(), size_t(3));
        for (size_t k = 0; k < 3; ++k) {
            QCOMPARE(*e->terms[k].b->code, int64_t(4 + k));
            QCOMPARE(*e->terms[k].b->scale, 0.25);
            QVERIFY(!e->terms[k].a.code);
        }
    }

    void wrongPlaces()
    {
        Case c(m_random);
        c.floats("x", { 2, 3 }).op("Relu", { "x" });
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedModel model { plan, nullptr, ArithmeticProfile::Simulated, nullptr, nullptr };
        const SampleRuns runs { std::make_shared<OneFeed>(c.feed), plan, {}, nullptr };
        const ValueId y = plan->graph().findValue("y");
        for (const Shape& at : { Shape { 2, 0 }, Shape { 0, 3 }, Shape { 0, -1 }, Shape { 0 }, Shape { 0, 0, 0 } }) {
            const auto e = explainElement(model, { y, at, 0, false }, runs, {});
            QVERIFY(!e.ok());
            QVERIFY(e.issue().what.find("2x3") != std::string::npos);
        }
        QVERIFY(!explainElement(model, { y, { 0, 0 }, 1, false }, runs, {}).ok());
        QVERIFY(!explainElement(model, { y, { 0, 0 }, 0, false }, {}, {}).ok());
        QVERIFY(explainElement(model, { y, { 1, 2 }, 0, false }, runs, {}).ok());
    }

    /// Of a batch of three the second sample's part, or the batch as it is run.
    void placesWithinASample()
    {
        Case c(m_random);
        c.floats("x", { 3, 4 }).op("Relu", { "x" });
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedModel model { plan, nullptr, ArithmeticProfile::Simulated, nullptr, nullptr };
        const SampleRuns runs { std::make_shared<OneFeed>(c.feed, 3), plan, {}, nullptr };
        const ValueId y = plan->graph().findValue("y");
        const auto within = explainElement(model, { y, { 0, 2 }, 1, true }, runs, {});
        QVERIFY(within.ok());
        QVERIFY((within->at == Shape { 1, 2 }));
        QCOMPARE(within->terms[0].a.real, double(c.feed[0].data<float>()[6]));
        QVERIFY(!explainElement(model, { y, { 1, 2 }, 1, true }, runs, {}).ok());
        const auto whole = explainElement(model, { y, { 2, 2 }, 1, false }, runs, {});
        QVERIFY(whole.ok());
        QCOMPARE(whole->terms[0].a.real, double(c.feed[0].data<float>()[10]));
    }

    void samplesRunTogether_data()
    {
        QTest::addColumn<int>("sample");
        QTest::addColumn<int>("row");
        QTest::addColumn<QString>("note");
        const QString note = "samples 0 to 3 are run together and the place is one in all of them: if axis 0 is the "
                             "batch, sample %1 is at index %1 of it";
        QTest::newRow("the first one") << 0 << 0 << QString();
        QTest::newRow("its own row") << 1 << 1 << QString();
        QTest::newRow("the first one's row") << 1 << 0 << note.arg(1);
        QTest::newRow("another row") << 0 << 3 << note.arg(0);
    }

    /// A place in a batch that is another sample's than the one asked for.
    void samplesRunTogether()
    {
        QFETCH(int, sample);
        QFETCH(int, row);
        QFETCH(QString, note);
        Case c(m_random);
        c.floats("x", { 4, 5 }).op("Relu", { "x" });
        const auto plan = std::move(c.model).finish().plan;
        const ExplainedModel model { plan, nullptr, ArithmeticProfile::Simulated, nullptr, nullptr };
        const SampleRuns runs { std::make_shared<OneFeed>(c.feed, 4), plan, {}, nullptr };
        const auto e
            = explainElement(model, { plan->graph().findValue("y"), { row, 2 }, size_t(sample), false }, runs, {});
        QVERIFY(e.ok());
        QCOMPARE(QString::fromStdString(e->note), note);
    }

private:
    std::mt19937 m_random;
};

QTEST_APPLESS_MAIN(ElementsTest)

#include "elements_test.moc"
