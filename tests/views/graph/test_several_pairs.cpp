// SPDX-License-Identifier: GPL-3.0-or-later
// A tensor that is quantized once for each of its readers: what is selected is one of these pairs, in every view.
#include "core/analysis/other_rows.h"
#include "core/project/about/explained_element.h"
#include "tests/project/remedies.h"
#include "tests/support/tensors.h"
#include "widgets/models/inspector/inspector_model.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/models/values/row_of_value.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/shown/search_names.h"
#include "widgets/views/detail/distribution_data.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/other_graph.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

/// x -> Neg -> a, read by Tanh, Abs and Sin; in the other file each with a pair of its own, the last two alike.
Prepared network(bool codes, float second)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 4, 8 }).node("Neg", { "x" }, { "a" });
    const auto read = [&](const char* name) { return codes ? "a" + std::string(name) : std::string("a"); };
    if (codes) {
        m.constant("s1", Tensor::scalar(0.03f)).constant("s2", Tensor::scalar(second));
        m.constant("z", Tensor::scalar<int8_t>(0));
        for (const char* name : { "1", "2", "3" }) {
            const std::string scale = std::string("s") + (*name == '1' ? "1" : "2"), own = name;
            m.node("QuantizeLinear", { "a", scale, "z" }, { "c" + own });
            m.node("DequantizeLinear", { "c" + own, scale, "z" }, { "a" + own });
        }
    }
    m.node("Tanh", { read("1") }, { "t" }).node("Abs", { read("2") }, { "b" }).node("Sin", { read("3") }, { "u" });
    return m.node("Add", { "t", "b" }, { "v" }).node("Add", { "v", "u" }, { "y" }).output("y").finish();
}

SnapshotPtr compared(float second = 0.004f)
{
    const Prepared f = network(false, 0), q = network(true, second);
    return snapshotOf({ std::shared_ptr<const Model>(f.plan, &f.plan->model()),
        std::shared_ptr<const Model>(q.plan, &q.plan->model()),
        std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 4, 8 }, normals(32, 3)) }) });
}

/// The row of the pair that makes this value.
size_t rowOf(const Snapshot& s, const char* quantized)
{
    const auto& rows = s.comparison->activations;
    return size_t(std::ranges::find(rows, quantized, &ActivationRow::quantizedName) - rows.begin());
}

std::string chosen(const Snapshot& s, const Selection& selection)
{
    const auto row = selection.current().activation;
    return row ? s.comparison->activations[*row].quantizedName : std::string("nothing");
}

FoldedGraph drawn(const LoadedModel& model)
{
    const auto plan = model.plan;
    return foldGraph(
        model.graph(), *model.quant, [plan](ValueId id) { return plan->constant(id); }, {}, FoldMode::Folded);
}

} // namespace

class TestSeveralPairs : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        const auto& rows = m_now->comparison->activations;
        QCOMPARE(std::ranges::count(rows, "a", &ActivationRow::name), 2);
        QVERIFY(rows[rowOf(*m_now, "a1")].accumulated.sqnrDb > *rows[rowOf(*m_now, "a2")].accumulated.sqnrDb + 5);
    }

    /// Also while the same files are compared anew.
    void thePairStaysSelected()
    {
        Selection selection;
        selection.rebind(m_now);
        selection.selectActivation(rowOf(*m_now, "a1"));
        selection.selectActivation(rowOf(*m_now, "a2"));
        selection.selectActivation(rowOf(*m_now, "a1"));
        selection.rebind(compared());
        QCOMPARE(chosen(*m_now, selection), std::string("a1"));
        selection.goBack();
        QCOMPARE(chosen(*m_now, selection), std::string("a2"));
        auto reordered = std::make_shared<Snapshot>(*m_now);
        auto& rows = reordered->comparison->activations;
        std::swap(rows[rowOf(*m_now, "a1")], rows[rowOf(*m_now, "a2")]);
        selection.rebind(reordered);
        QCOMPARE(chosen(*reordered, selection), std::string("a2"));
    }

    /// Nobody said which: the worst. A pair that does what another one does has that one's row.
    void theTensorAloneIsItsWorstPair()
    {
        for (const float second : { 0.004f, 0.0301f }) {
            const SnapshotPtr now = compared(second);
            const auto& rows = now->comparison->activations;
            const bool first
                = *rows[rowOf(*now, "a1")].accumulated.sqnrDb < *rows[rowOf(*now, "a2")].accumulated.sqnrDb;
            Selection selection;
            selection.rebind(now);
            QVERIFY(selection.selectByName("a"));
            QCOMPARE(chosen(*now, selection), std::string(first ? "a1" : "a2"));
            const Graph& graph = now->quantModel->graph();
            for (const auto& [value, row] : { std::pair("a1", "a1"), std::pair("a2", "a2"), std::pair("a3", "a2") }) {
                selection.selectValue(Side::Quantized, graph.findValue(value));
                QCOMPARE(chosen(*now, selection), std::string(row));
            }
        }
        for (const NamedPlace& place : searchNames(*m_now))
            if (place.name == QStringLiteral("a") && !place.node)
                QCOMPARE(place.place.activation, std::optional(rowOf(*m_now, "a2")));
    }

    void numbersOfThePair_data()
    {
        QTest::addColumn<QString>("pair");
        QTest::addColumn<double>("step");
        QTest::newRow("first") << "a1" << double(0.03f);
        QTest::newRow("second") << "a2" << double(0.004f);
    }
    /// Values, their way through the file, the range in the plot and the inspector are of what is selected.
    void numbersOfThePair()
    {
        QFETCH(QString, pair);
        QFETCH(double, step);
        Session session([this](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                            const PartialFn&) { return Result<SnapshotPtr>(m_now); });
        session.openInputs(m_now->inputs);
        QTRY_COMPARE(session.snapshot(), m_now);
        session.selection().selectActivation(rowOf(*m_now, qPrintable(pair)));
        const Place place = session.selection().current();
        const auto tensor = tensorAt(session, place);
        QVERIFY(tensor);
        const auto values = readValues(*m_now, *tensor, 0, {});
        QVERIFY(values.ok() && values->quantized);
        double largest = 0;
        for (size_t i = 0; i < values->count(); ++i) {
            const double code = values->quantized->real(i) / step;
            QVERIFY(std::abs(code - std::round(code)) < 1e-3);
            largest = std::max(largest, std::abs(code));
        }
        QCOMPARE(largest > 126.5, pair == QStringLiteral("a2")); // 0.004 clips
        const TensorPlace side = quantizedSide(*m_now, *tensor);
        QCOMPARE(QString::fromStdString(nameOf(*m_now, side)), pair);
        const auto range = distributionOf(*m_now, place, session.theme()).data.representable;
        QVERIFY(range && std::abs(range->second - 127 * step) < 1e-4);

        const auto rows = inspectorRows(*m_now, place);
        const auto other = std::ranges::find_if(rows, [](const InspectorRow& r) { return r.activation.has_value(); });
        QVERIFY(other != rows.end());
        QCOMPARE(*other->activation, rowOf(*m_now, pair == QStringLiteral("a1") ? "a2" : "a1"));
        QVERIFY2(other->value.contains(pair == QStringLiteral("a1") ? "n_b, n_u" : "n_t"), qPrintable(other->value));
    }

    /// A box has its worst pair's number, and of the selected pair that one's.
    void numbersInTheGraph()
    {
        for (const Side side : { Side::Float, Side::Quantized }) {
            const LoadedModel& model = *modelOf(*m_now, side);
            const FoldedGraph graph = drawn(model);
            const auto box = graph.box(model.graph().findNode("n_a"));
            QVERIFY(box);
            const auto numbers = boxNumbers(*m_now, side, graph, Metric::Accumulated);
            QCOMPARE(numbers[*box].row, std::optional(rowOf(*m_now, "a2")));
            const auto shown = numberOfSelected(
                *m_now, side, graph.boxes[*box], numbers[*box], rowOf(*m_now, "a1"), Metric::Accumulated);
            QVERIFY(shown && !shown->text.contains(QStringLiteral("Neg"))); // of the box's own tensor
        }
        const Graph& graph = m_now->floatModel->graph();
        for (const auto& [reader, pair] : { std::pair("n_t", "a1"), std::pair("n_b", "a2"), std::pair("n_u", "a2") })
            QCOMPARE(rowOfRead(*m_now, graph.findValue("a"), { graph.findNode(reader) }),
                std::optional(rowOf(*m_now, pair)));
        QCOMPARE(rowOfRead(*m_now, graph.findValue("t"), { graph.findNode("n_v") }), std::optional(rowOf(*m_now, "t")));
    }

    /// The second quantized model's pair of the same reader.
    void inTheOtherModel()
    {
        auto both = std::make_shared<Snapshot>(*m_now);
        const SnapshotPtr other = compared(0.0301f);
        numberOthers(*both->comparison, *other->comparison);
        both->other = std::make_shared<const OtherComparison>(OtherComparison { other, {} });
        for (const char* pair : { "a1", "a2" }) {
            const ActivationRow& row = both->comparison->activations[rowOf(*both, pair)];
            const auto there = tensorInOther(*both, { false, row.floatValue, {}, row.quantValue });
            QVERIFY(there);
            QCOMPARE(nameOf(*other, quantizedSide(*other, *there)), std::string(pair));
        }
    }

    void tellsRowsApart()
    {
        TensorModel model;
        model.setSnapshot(m_now);
        QStringList labels;
        for (int row = 0; row < model.rowCount(); ++row)
            labels << model.index(row, 0).data().toString();
        QVERIFY2(labels.contains(QStringLiteral("a for n_t")), qPrintable(labels.join(u'|')));
        QVERIFY2(labels.contains(QStringLiteral("a for n_b")), qPrintable(labels.join(u'|')));
    }

private:
    const SnapshotPtr m_now = compared();
};

QTEST_MAIN(TestSeveralPairs)
#include "test_several_pairs.moc"
