// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "core/tensor/convert.h"
#include "tests/views/support/example_window.h"
#include "widgets/models/base/formatting.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/values/slice_field.h"
#include "widgets/views/values/value_find_bar.h"
#include "widgets/views/values/values_panel.h"
#include "widgets/views/window/dock_layout.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>

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

struct Values : ExampleWindow {
    explicit Values(const Inputs& inputs = fewSamples())
        : ExampleWindow(realBuild(), inputs)
    {
    }
    ValuesPanel& panel() { return *window.findChild<ValuesPanel*>(); }
    ValueTableModel& model() { return panel().model(); }
    QTableView& table() { return panel().table(); }

    /// Shows the panel for the first activation of an operator.
    bool look(const char* opType)
    {
        if (!ready() || !window.showView(QStringLiteral("values")))
            return false;
        const auto& rows = session.comparison()->activations;
        session.selection().selectActivation(
            size_t(std::ranges::find(rows, opType, &ActivationRow::opType) - rows.begin()));
        return read();
    }
    bool read()
    {
        return QTest::qWaitFor(
            [this] { return panel().shown().values() && !panel().statistics().isEmpty() && session.jobs().idle(); },
            kPatience);
    }
    QString cell(int row, int column) { return model().index(row, column).data().toString(); }
    void typeSlice(const char* text)
    {
        panel().slice().selectAll();
        QTest::keyClicks(&panel().slice(), text);
    }
};

} // namespace

class TestValuesView : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
    }

    void showsWhatIsSelected()
    {
        Values e;
        QVERIFY(e.look("Relu"));
        const QAbstractItemModelTester tester(&e.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        const ActivationRow row = *e.session.selectedActivation();
        QCOMPARE(e.panel().shown().name(), toQt(row.name));
        QVERIFY(e.panel().shown().values()->shape == row.shape);
        QVERIFY(e.panel().kinds().count() == 5); // float, quantized, codes, difference, relative
        QVERIFY(e.panel().statistics().contains(QStringLiteral("value")));

        const auto weight = std::ranges::find(e.session.comparison()->weights, false, &WeightRow::bias);
        e.session.selection().selectWeight(size_t(weight - e.session.comparison()->weights.begin()));
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().name(), toQt(weight->name));
        QVERIFY(e.panel().shown().sampleText().isEmpty());
        e.panel().setKind(ValueKind::Codes);
        QTRY_VERIFY(e.panel().statistics().contains(QStringLiteral("codes used")));

        e.session.selection().clear();
        QTRY_VERIFY(!e.panel().shown().values());
        QCOMPARE(e.model().rowCount(), 0);
        QVERIFY(e.panel().shown().hint().contains(QStringLiteral("Choose a tensor")));
    }

    void followsTheSample()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        QCOMPARE(e.panel().shown().sampleText(), QStringLiteral("sample 0"));
        const auto first = e.panel().shown().values();
        e.session.selection().selectSample(2);
        QTRY_COMPARE_WITH_TIMEOUT(e.panel().shown().sampleText(), QStringLiteral("sample 2"), kPatience);
        const auto third = e.panel().shown().values();
        size_t differ = 0;
        for (size_t i = 0; i < first->count(); ++i)
            differ += first->reference->real(i) != third->reference->real(i);
        QVERIFY(differ > 0);
    }

    void stepsAsideWhileHidden()
    {
        Values e;
        QVERIFY(e.ready());
        QVERIFY(e.window.showView(QStringLiteral("distribution")));
        e.session.selection().selectActivation(1);
        QVERIFY(e.ready());
        QVERIFY(!e.panel().shown().values());
        QVERIFY(e.window.showView(QStringLiteral("values")));
        QVERIFY(e.read());
    }

    void slicesAreTyped()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        const Shape shape = e.panel().shown().values()->shape;
        QCOMPARE(shape.size(), size_t(4));
        e.typeSlice("0, 1, ::2, -1");
        QCOMPARE(e.model().rowCount(), int((shape[2] + 1) / 2));
        QCOMPARE(e.model().columnCount(), 1);
        QCOMPARE(e.cell(1, 0),
            numberText(
                e.panel().shown().values()->reference->real(size_t((shape[2] + 2) * shape[3] + shape[3] - 1)), 4));
        QVERIFY(!e.panel().slice().wrong());
        e.typeSlice("0, 999");
        QVERIFY(e.panel().slice().wrong());
        QVERIFY(e.panel().note().contains(QStringLiteral("xis 1: 999 is outside of 0..")));
        QCOMPARE(e.model().rowCount(), 0); // not that of what was half typed, "0, 9"
        QVERIFY(!e.panel().note().contains(u'…'));
        QVERIFY(e.panel().statistics().isEmpty());
        e.typeSlice("0, 0");
        QVERIFY(!e.panel().slice().wrong());
        QVERIFY(!e.panel().note().contains(QStringLiteral("999")));
        QCOMPARE(e.model().columnCount(), int(shape[3]));
        QCOMPARE(e.panel().slice().text(), QStringLiteral("0, 0")); // what is typed stays
        QTRY_VERIFY(e.panel().statistics().startsWith(QStringLiteral("Slice: ")));
        QVERIFY(e.panel().wholeStatistics().startsWith(QStringLiteral("All: ")));
        e.typeSlice("0, 5:5");
        QCOMPARE(e.model().rowCount(), 0);
    }

    void firstSlices_data()
    {
        QTest::addColumn<Shape>("shape");
        QTest::addColumn<QString>("slice");
        QTest::newRow("matrix") << Shape { 10, 32 } << ":, :";
        QTest::newRow("image") << Shape { 1, 16, 25, 20 } << "0, 0, :, :";
        QTest::newRow("small filters") << Shape { 32, 16, 3, 3 } << "0, :, :, :";
        QTest::newRow("1x1 filters") << Shape { 1280, 320, 1, 1 } << ":, :, 0, 0";
        QTest::newRow("vector") << Shape { 7 } << ":";
        QTest::newRow("one element") << Shape { 1, 1 } << "0, 0";
        QTest::newRow("nothing") << Shape { 2, 0 } << ":, :";
    }

    void firstSlices()
    {
        QFETCH(Shape, shape);
        QFETCH(QString, slice);
        QCOMPARE(toQt(sliceText(firstSlice(shape), shape)), slice);
    }

    void axesAreExchanged()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        const Shape shape = e.panel().shown().values()->shape;
        e.typeSlice("0, 2, :, :");
        const QString text = e.cell(1, 0);
        e.panel().setAcross(2);
        QCOMPARE(e.model().view().across, std::optional<size_t>(2));
        QCOMPARE(e.cell(0, 1), text);
        e.panel().setDown(1);
        QCOMPARE(e.model().rowCount(), int(shape[1]));
        QCOMPARE(e.model().columnCount(), int(shape[2]));
        QCOMPARE(e.panel().slice().text(), QStringLiteral("0, :, :, 0"));
        QCOMPARE(e.cell(2, 1), text);
        e.table().setCurrentIndex(e.model().index(3, 1));
        e.panel().setAcross(3);
        QCOMPARE(e.panel().slice().text(), QStringLiteral("0, :, 1, :")); // fixed where the cell is
    }

    void findsNumbers()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        const auto values = e.panel().shown().values();
        QTest::keyClick(&e.table(), Qt::Key_F, Qt::ControlModifier);
        QVERIFY(e.panel().findBar().isVisible());
        auto* number = e.panel().findBar().findChild<QLineEdit*>();
        auto* what = e.panel().findBar().findChild<QComboBox*>();
        auto* said = e.panel().findBar().findChild<QLabel*>();
        QTest::keyClicks(number, "much");
        QTest::keyClick(number, Qt::Key_Return);
        QVERIFY(said->text().contains(QStringLiteral("no number")));
        QVERIFY(said->isVisible() && said->width() > e.panel().width() / 2);
        number->clear();
        QTest::keyClicks(number, "1e30");
        QTest::keyClick(number, Qt::Key_Return);
        QTRY_VERIFY(said->text().contains(QStringLiteral("none")));

        what->setCurrentIndex(what->findData(int(FindWhat::Highest)));
        e.panel().findBar().findChild<QCheckBox*>()->setChecked(true);
        e.panel().findBar().search(false);
        double highest = values->reference->real(0);
        for (size_t i = 0; i < values->count(); ++i)
            highest = std::max(highest, values->reference->real(i));
        QTRY_VERIFY(e.table().currentIndex().isValid());
        QTRY_COMPARE(e.table().currentIndex().data(ValueTableModel::CopyRole).toDouble(),
            QString::number(highest, 'g', 9).toDouble());
        e.panel().setKind(ValueKind::Difference);
        what->setCurrentIndex(what->findData(int(FindWhat::LargestDifference)));
        QTest::keyClick(&e.table(), Qt::Key_F3);
        double largest = 0;
        for (size_t i = 0; i < values->count(); ++i)
            largest = std::max(largest, std::fabs(valueAt(*values, ValueKind::Difference, i)));
        QTRY_COMPARE(std::fabs(e.table().currentIndex().data(ValueTableModel::CopyRole).toDouble()),
            QString::number(largest, 'g', 9).toDouble());

        what->setCurrentIndex(what->findData(int(FindWhat::Above)));
        e.panel().setKind(ValueKind::Float);
        number->setText(QStringLiteral("0"));
        e.panel().findBar().findChild<QCheckBox*>()->setChecked(false);
        e.table().setCurrentIndex(e.model().index(0, 0));
        QTest::keyClick(&e.table(), Qt::Key_F3);
        QTRY_VERIFY(e.session.jobs().idle());
        const size_t next = e.model().positionOf(e.table().currentIndex());
        QVERIFY(e.table().currentIndex().data(ValueTableModel::CopyRole).toDouble() > 0);
        QTest::keyClick(&e.table(), Qt::Key_F3);
        QTRY_VERIFY(e.model().positionOf(e.table().currentIndex()) != next);
        QTest::keyClick(&e.table(), Qt::Key_F3, Qt::ShiftModifier);
        QTRY_COMPARE(e.model().positionOf(e.table().currentIndex()), next);
        QTRY_VERIFY(e.session.jobs().idle());
        QTest::keyClick(number, Qt::Key_Escape);
        QTRY_VERIFY(!e.panel().findBar().isVisible());
    }

    void savesArrays_data()
    {
        QTest::addColumn<ValueKind>("kind");
        QTest::addColumn<bool>("whole");
        QTest::addColumn<DType>("type");
        QTest::newRow("slice of reals") << ValueKind::Float << false << DType::Float32;
        QTest::newRow("codes") << ValueKind::Codes << true << DType::UInt8;
        QTest::newRow("differences") << ValueKind::Difference << true << DType::Float64;
    }

    void savesArrays()
    {
        QFETCH(ValueKind, kind);
        QFETCH(bool, whole);
        QFETCH(DType, type);
        Values e;
        QVERIFY(e.look("Relu"));
        const auto values = e.panel().shown().values();
        if (kind == ValueKind::Codes)
            type = values->quantized->params().dtype;
        e.panel().setKind(kind);
        e.typeSlice("0, 1, ::2, 1:4");
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("a.npy"));
        QSignalSpy written(&e.session, &Session::written);
        e.panel().save(whole, path);
        QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, kPatience);
        auto array = ArrayArchive::open(path.toStdString())->array("");
        QVERIFY(array.ok());
        QCOMPARE(array->dtype(), type);
        const TensorSlice slice
            = whole ? TensorSlice::whole(values->shape) : *parseSlice("0, 1, ::2, 1:4", values->shape);
        QVERIFY(array->shape() == slice.shape());
        QVERIFY(array->prepare(array->shape()[0]).ok());
        const auto read = array->items(0, array->shape()[0]);
        const SliceGrid grid = SliceGrid::inOrder(slice, values->shape);
        for (size_t i = 0; i < grid.count(); ++i)
            QCOMPARE(elementAsDouble(*read, int64_t(i)), valueAt(*values, kind, grid.at(i)));
    }

    void openFilesStay()
    {
        Inputs inputs = fewSamples();
        const QTemporaryDir folder;
        inputs.other.path = folder.filePath(QStringLiteral("b.onnx")).toStdString();
        QVERIFY(QFile::copy(toQt(inputs.quantPath), toQt(inputs.other.path)));
        Values e(inputs);
        QVERIFY(e.look("Conv"));
        QSignalSpy failed(&e.session, &Session::failed);
        e.panel().save(true, toQt(inputs.other.path));
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kPatience);
        QFile file(toQt(inputs.other.path));
        QCOMPARE(file.size(), QFileInfo(toQt(inputs.quantPath)).size());
        QVERIFY(e.panel().kinds().findData(int(ValueKind::Between)) >= 0);
        e.panel().setKind(ValueKind::Between);
        QTRY_VERIFY(e.panel().statistics().contains(QStringLiteral("equal"))); // the same file
    }

    void copiesCells()
    {
        Values e;
        QVERIFY(e.look("Relu"));
        e.panel().setKind(ValueKind::Codes);
        e.table().selectionModel()->select(
            QItemSelection(e.model().index(0, 1), e.model().index(1, 2)), QItemSelectionModel::ClearAndSelect);
        QTest::keyClick(&e.table(), Qt::Key_C, Qt::ControlModifier);
        const auto code = [&](int row, int column) {
            return e.model().index(row, column).data(ValueTableModel::CopyRole).toString();
        };
        QCOMPARE(QGuiApplication::clipboard()->text(),
            code(0, 1) + u'\t' + code(0, 2) + u'\n' + code(1, 1) + u'\t' + code(1, 2) + u'\n');
    }

    void isPinned()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        const QString name = e.panel().shown().name();
        ShownPlace& place = *e.panel().shownPlace();
        place.setPinned(true);
        e.session.selection().selectWeight(0);
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().name(), name);
        e.session.selection().selectSample(1); // it keeps all that it shows
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().values()->sample, std::optional<size_t>(0));
        place.setPinned(false);
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().name(), toQt(e.session.comparison()->weights[0].name));
        for (const QPushButton* button : e.panel().header()->findChildren<QPushButton*>())
            QVERIFY(button->text() != QStringLiteral("pin")); // one pin for all panels: the title's

        place.setPinned(true); // "Show values" of something else leads there all the same
        QVERIFY(e.look("Conv"));
        for (QAction* action : e.window.findChild<TablePanel*>(QStringLiteral("tensors"))->actions())
            if (action->text() == QStringLiteral("Show values"))
                action->trigger();
        QVERIFY(!place.pinned());
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().name(), name);
    }

    /// Two tensors' numbers beside each other: each panel reads its own.
    void twoPanelsReadAtOnce()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        const QString first = e.panel().shown().name();
        QVERIFY(e.window.layoutOfPanels().openAnother(QStringLiteral("values")));
        auto* second = e.window.findChild<ValuesPanel*>(QStringLiteral("values:2"));
        QVERIFY(second);
        e.session.selection().selectWeight(0);
        QVERIFY(e.read());
        QTRY_VERIFY_WITH_TIMEOUT(second->shown().values() && e.session.jobs().idle(), kPatience);
        QCOMPARE(second->shown().name(), first);
        QVERIFY(e.panel().shown().values() && second->shown().values()->name != e.panel().shown().values()->name);
    }

    void followsTheChannel()
    {
        Values e;
        QVERIFY(e.look("Conv"));
        e.typeSlice("0, 1, :, :");
        e.session.selection().selectChannel(3);
        QCOMPARE(e.panel().slice().text(), QStringLiteral("0, 3, :, :"));
        e.panel().setDown(1);
        e.session.selection().selectChannel(2);
        QCOMPARE(e.table().currentIndex().row(), 2);
    }

    void menusLeadHere()
    {
        Values e;
        QVERIFY(e.ready());
        auto* weights = e.window.findChild<TablePanel*>(QStringLiteral("weights"));
        e.session.selection().selectWeight(0);
        QAction* show = nullptr;
        for (QAction* action : weights->actions())
            if (action->text() == QStringLiteral("Show values"))
                show = action;
        QVERIFY(show);
        show->trigger();
        QVERIFY(e.panel().lookedAt());
        QVERIFY(e.read());
        QCOMPARE(e.panel().shown().name(), toQt(e.session.comparison()->weights[0].name));
    }

    void floatModelAlone()
    {
        Inputs inputs = fewSamples();
        inputs.quantPath.clear();
        inputs.data = {};
        Values e(inputs);
        QTRY_VERIFY_WITH_TIMEOUT(e.session.snapshot()->floatModel && e.session.jobs().idle(), kPatience);
        QVERIFY(e.window.showView(QStringLiteral("values")));
        const Graph& graph = e.session.snapshot()->floatModel->graph();
        e.session.selection().selectValue(Side::Float, graph.outputs()[0]);
        QVERIFY(e.panel().shown().hint().contains(QStringLiteral("depend on data")));
        for (size_t v = 0; v < graph.values().size(); ++v)
            if (graph.value(ValueId(v)).name.ends_with("weight"))
                e.session.selection().selectValue(Side::Float, ValueId(v));
        QVERIFY(e.read());
        QVERIFY(hasKind(*e.panel().shown().values(), ValueKind::Float));
    }
};

QTEST_MAIN(TestValuesView)

#include "test_values_view.moc"
