// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/example_window.h"
#include "widgets/models/base/formatting.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/arithmetic/arithmetic_panel.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/detail/error_map_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/values/slice_field.h"
#include "widgets/views/values/values_panel.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>

#include <algorithm>
#include <cmath>

using namespace qs;
using qs::test::bundledExample;
using qs::test::ExampleWindow;
using qs::test::kPatience;
using qs::test::realBuild;

namespace {

Inputs fewSamples()
{
    Inputs inputs = bundledExample();
    inputs.data.limit = 4;
    return inputs;
}

/// Of an operand, as number: the first of any sample.
ChosenElement at(int64_t index, size_t sample = 0) { return { sample, index }; }

struct Arithmetic : ExampleWindow {
    explicit Arithmetic(const Inputs& inputs = fewSamples())
        : ExampleWindow(realBuild(), inputs)
    {
    }
    ArithmeticPanel& panel() { return *window.findChild<ArithmeticPanel*>(); }
    const ActivationRow* rowOf(const char* opType)
    {
        const auto& rows = session.comparison()->activations;
        return &*std::ranges::find(rows, opType, &ActivationRow::opType);
    }
    /// Shows the panel for the first activation of an operator.
    bool look(const char* opType)
    {
        if (!ready() || !window.showView(QStringLiteral("arithmetic")))
            return false;
        session.selection().selectActivation(size_t(rowOf(opType) - session.comparison()->activations.data()));
        return followed();
    }
    bool followed()
    {
        return QTest::qWaitFor([this] { return panel().shown().found() && session.jobs().idle(); }, kPatience);
    }
    const ShownElement::Found& found() { return *panel().shown().found(); }
    const ElementExplanation& explanation() { return *found().explanation; }
    TensorValues valuesOf(const ActivationRow& row, size_t sample)
    {
        auto values = readValues(*session.snapshot(), { false, row.floatValue, {} }, sample, {});
        return std::move(values).value();
    }
    const std::optional<ChosenElement>& chosen() { return session.selection().current().element; }
    bool choose()
    {
        return QTest::qWaitFor([this] { return chosen().has_value() && session.jobs().idle(); }, kPatience)
            && followed();
    }
};

double largestDifference(const TensorValues& values)
{
    double largest = 0;
    for (size_t i = 0; i < values.count(); ++i)
        largest = std::max(largest, std::abs(valueAt(values, ValueKind::Difference, i)));
    return largest;
}

} // namespace

class TestArithmeticView : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
    }

    void showsTheLargestErrorAtFirst()
    {
        Arithmetic e;
        QVERIFY(e.ready());
        const QAbstractItemModelTester terms(
            &e.panel().terms(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester steps(
            &e.panel().steps(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(e.look("Conv"));
        const ActivationRow& row = *e.rowOf("Conv");
        const TensorValues values = e.valuesOf(row, 0);
        const double here = valueAt(values, ValueKind::Difference, size_t(e.found().element.index));
        QCOMPARE(std::abs(here), largestDifference(values));
        QCOMPARE(e.explanation().real, values.quantized->real(size_t(e.found().element.index)));
        QVERIFY(std::abs(e.explanation().difference->total - here) < 1e-12);
        QVERIFY(!e.chosen()); // nothing was chosen by that

        const ElementExplanation& products = *e.panel().terms().explanation();
        QCOMPARE(int(products.terms.size()), e.panel().terms().rowCount());
        QCOMPARE(products.relation, Relation::Products);
        QVERIFY(e.panel().terms().used(TermModel::Product) && e.panel().terms().used(TermModel::FloatA));
        QVERIFY(e.panel().headline().contains(toQt(e.explanation().tensor)));
        QVERIFY(e.panel().steps().steps() > 1);
        for (int r = 0; r < e.panel().steps().rowCount(); ++r)
            if (e.panel().steps().rows()[size_t(r)].name == QStringLiteral("all together"))
                QVERIFY(std::abs(e.panel().steps().rows()[size_t(r)].value - here) < 1e-12);
    }

    void anIndexIsTyped()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        SliceField& field = e.panel().field();
        field.selectAll();
        QTest::keyClicks(&field, "0, 3, 1, 2");
        QVERIFY(e.choose());
        const Shape& shape = e.found().shape;
        QCOMPARE(e.chosen()->index, elementOf(shape, { 0, 3, 1, 2 }));
        QCOMPARE(e.explanation().at.size(), size_t(4));
        QCOMPARE(e.explanation().at[1], int64_t(3));
        field.selectAll();
        QTest::keyClicks(&field, "0, 3, 1, 999");
        QVERIFY(field.wrong());
        QVERIFY(!e.panel().note().isEmpty());
        QVERIFY(!e.panel().findChild<QSplitter*>()->isVisible());
        QCOMPARE(e.chosen()->index, elementOf(shape, { 0, 3, 1, 2 }));
        field.selectAll();
        QTest::keyClicks(&field, "0, 3, 1, 1");
        QTRY_VERIFY(e.panel().findChild<QSplitter*>()->isVisible());
    }

    void largestErrorOfAllShownSamples()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        e.panel().showLargestError();
        QVERIFY(e.choose());
        double largest = 0;
        for (size_t sample = 0; sample < 4; ++sample)
            largest = std::max(largest, largestDifference(e.valuesOf(*e.rowOf("Conv"), sample)));
        const TensorValues values = e.valuesOf(*e.rowOf("Conv"), e.chosen()->sample);
        QCOMPARE(std::abs(valueAt(values, ValueKind::Difference, size_t(e.chosen()->index))), largest);
        QCOMPARE(e.panel().shown().sampleText(), QStringLiteral("sample %1").arg(e.chosen()->sample));
        e.session.selection().selectSample(1);
        QVERIFY(!e.chosen()); // it was of another sample
        QVERIFY(e.followed());
        QCOMPARE(e.found().element.sample, size_t(1));
    }

    void plotsChooseANumber()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        const Shape shape = e.found().shape;
        auto& map = e.window.findChild<ErrorMapPanel*>()->map();
        emit map.cellChosen(2, 1, 3, 2);
        QVERIFY(e.choose());
        const auto cell = indicesOf(size_t(e.chosen()->index), shape);
        QCOMPARE(cell[2], int64_t(2));
        QVERIFY(cell[3] == 3 || cell[3] == 4);

        e.session.selection().selectElement(std::nullopt);
        emit e.window.findChild<DistributionPanel*>()->plot().binChosen({ 0.5, 0.75 });
        QVERIFY(e.choose());
        const TensorValues values = e.valuesOf(*e.rowOf("Conv"), e.chosen()->sample);
        const double there = values.reference->real(size_t(e.chosen()->index));
        QVERIFY(there >= 0.5 && there < 0.75);

        e.session.selection().selectChannel(5);
        QVERIFY(e.followed());
        QCOMPARE(indicesOf(size_t(e.found().element.index), shape)[1], int64_t(5));
    }

    void operandsAreFollowed()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        e.session.selection().selectElement(at(7));
        QVERIFY(e.followed());
        const Place before = e.session.selection().current();
        const ElementExplanation products = *e.panel().terms().explanation();
        e.panel().follow(products.terms[0].a);
        QVERIFY(e.followed());
        QVERIFY(e.session.selection().current().value != before.value);
        QCOMPARE(e.found().element.index, products.terms[0].a.element);
        QVERIFY(std::abs(e.explanation().real - products.terms[0].a.real) < 1e-12);
        e.session.selection().goBack();
        QVERIFY(e.session.selection().current() == before);
        QVERIFY(e.followed());
        e.panel().follow(*products.terms[0].b);
        QVERIFY(e.followed());
        QVERIFY(e.session.selection().current().weight);
        QVERIFY(std::abs(e.explanation().real - products.terms[0].b->real) < 1e-12);
    }

    void stepsOneByOne()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        ElementStepper& stepper = e.panel().stepper();
        const int terms = e.panel().terms().rowCount();
        QCOMPARE(stepper.length(), terms + e.panel().steps().steps());
        QVERIFY(!stepper.stepping());
        stepper.forward();
        QCOMPARE(stepper.position(), 0);
        QCOMPARE(e.panel().termTable().currentIndex().row(), 0);
        stepper.forward();
        stepper.back();
        stepper.back();
        QCOMPARE(stepper.position(), -1);
        stepper.goTo(terms);
        QVERIFY(!stepper.isTerm(stepper.position()));
        stepper.goTo(terms - 2);
        stepper.play(true);
        QTRY_VERIFY_WITH_TIMEOUT(!stepper.playing(), kPatience);
        QCOMPARE(stepper.position(), stepper.length() - 1);
        e.session.selection().selectElement(at(11));
        QVERIFY(e.followed());
        QVERIFY(!stepper.stepping());
    }

    void sortsAndCopies()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        QTableView& table = e.panel().termTable();
        table.sortByColumn(TermModel::Product, Qt::DescendingOrder);
        const QStringList lines = e.panel().copiedTerms(true).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(int(lines.size()), e.panel().terms().rowCount() + 1);
        const int column = int(lines[0].split(u'\t').indexOf(QStringLiteral("Product")));
        QVERIFY(column > 0);
        double last = HUGE_VAL;
        for (const QString& line : lines.mid(1)) {
            const double now = std::abs(line.split(u'\t')[column].toDouble());
            QVERIFY(now <= last);
            last = now;
        }
    }

    void theFloatModelHasItsOwnArithmetic()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        QVERIFY(e.panel().shown().has(ShownElement::Model::Float));
        QVERIFY(!e.panel().shown().has(ShownElement::Model::Other));
        e.session.selection().selectElement(at(3));
        e.panel().shown().setModel(ShownElement::Model::Float);
        QVERIFY(e.followed());
        QCOMPARE(e.explanation().stored, e.valuesOf(*e.rowOf("Conv"), 0).reference->real(3));
        QVERIFY(!e.panel().terms().used(TermModel::CodeA));
    }

    void theSecondModelToo()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        openOther(e.session, { QS_SOURCE_DIR "/resources/examples/digits_qdq.onnx", std::nullopt });
        QTRY_VERIFY_WITH_TIMEOUT(e.session.snapshot()->other && e.session.jobs().idle(), kPatience);
        QVERIFY(e.window.showView(QStringLiteral("arithmetic")));
        QVERIFY(e.panel().shown().has(ShownElement::Model::Other));
        e.session.selection().selectElement(at(5));
        QVERIFY(e.followed());
        const double first = e.explanation().real;
        e.panel().shown().setModel(ShownElement::Model::Other);
        QVERIFY(e.followed());
        const TensorValues values = e.valuesOf(*e.rowOf("Conv"), 0);
        QCOMPARE(first, values.quantized->real(5));
        QCOMPARE(e.explanation().real, values.other->real(5));
        const Place before = e.session.selection().current();
        e.panel().follow(e.panel().terms().term(0).a); // by the float network's name
        QVERIFY(e.session.selection().current().value != before.value);
    }

    /// A DequantizeLinear clips nothing: what was clipped before it is said of its number.
    void clippingOnTheWayIsSaid()
    {
        auto before = std::make_shared<ElementExplanation>();
        before->clipped = true;
        before->code = 255;
        before->zeroPoint = 0;
        ElementExplanation last;
        last.tensor = std::string(300, 'n') + "<end>";
        last.behind = before;
        const QString text = headlineHtml(last);
        QVERIFY(text.contains(QStringLiteral("clipped")));
        QVERIFY(text.contains(QStringLiteral("&lt;end&gt;")) && !text.contains(QString(100, u'n')));
        before->code = 0; // what a Relu leaves, too
        QVERIFY(!headlineHtml(last).contains(QStringLiteral("clipped")));
        last.difference.emplace().clipping = -0.5;
        QVERIFY(headlineHtml(last).contains(QStringLiteral("clipped")));
        before->clipped = false;
        QVERIFY(!headlineHtml(last).contains(QStringLiteral("clipped")));
    }

    void integersAndPairs()
    {
        Inputs inputs = fewSamples();
        inputs.profile = ArithmeticProfile::IntegerAvx2;
        Arithmetic e(inputs);
        QVERIFY(e.look("Conv"));
        const ElementExplanation& products = *e.panel().terms().explanation();
        QVERIFY(products.pairs);
        QVERIFY(e.panel().note().contains(QStringLiteral("16 bits")));
        QVERIFY(products.confirmed == true);
        int64_t sum = 0;
        for (const ElementTerm& term : products.terms)
            sum += *term.product;
        const int last = e.panel().terms().rowCount() - 1;
        if (products.saturated.empty())
            QCOMPARE(e.panel().terms().index(last, TermModel::Sum).data().toString(), signedCount(sum));
        setArithmetic(e.session, ArithmeticProfile::Simulated);
        QTRY_VERIFY_WITH_TIMEOUT(e.panel().shown().found() && !e.panel().terms().explanation()->pairs, kPatience);
    }

    void aValueIsAskedFor()
    {
        Arithmetic e;
        QVERIFY(e.look("Relu"));
        QVERIFY(e.window.showView(QStringLiteral("values")));
        auto& values = *e.window.findChild<ValuesPanel*>();
        QTRY_VERIFY_WITH_TIMEOUT(values.model().rowCount() > 1, kPatience);
        const QModelIndex cell = values.model().index(1, 1);
        values.table().setCurrentIndex(cell);
        emit values.table().activated(cell);
        QVERIFY(e.choose());
        QCOMPARE(e.chosen()->index, int64_t(values.model().grid().at(values.model().positionOf(cell))));
        QVERIFY(e.panel().lookedAt());
        e.session.selection().selectElement(at(0));
        QCOMPARE(values.table().currentIndex().row(), 0);
    }

    void saysWhyThereIsNothing()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        e.session.selection().clear();
        QVERIFY(!e.panel().shown().found());
        QCOMPARE(e.panel().terms().rowCount(), 0);
        QVERIFY(e.panel().shown().hint().contains(QStringLiteral("Choose a tensor")));
        e.session.selection().selectActivation(size_t(e.rowOf("Conv") - e.session.comparison()->activations.data()));
        e.session.selection().selectElement(at(1'000'000'000));
        QTRY_VERIFY_WITH_TIMEOUT(e.panel().shown().hint().contains(QStringLiteral("no such element")), kPatience);
    }

    void selectionsAreKeptBetweenRuns()
    {
        Arithmetic e;
        QVERIFY(e.look("Conv"));
        e.session.selection().selectElement(at(9));
        QVERIFY(e.followed());
        setArithmetic(e.session, ArithmeticProfile::Integer);
        QTRY_VERIFY_WITH_TIMEOUT(e.session.snapshot()->inputs.profile == ArithmeticProfile::Integer, kPatience);
        QVERIFY(e.ready());
        QCOMPARE(e.chosen(), std::optional(at(9)));
        QVERIFY(e.followed());
        QCOMPARE(e.found().element.index, int64_t(9));
    }
};

QTEST_MAIN(TestArithmeticView)
#include "test_arithmetic_view.moc"
