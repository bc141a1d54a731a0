// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/real_build.h"
#include "widgets/models/tables/output_model.h"
#include "widgets/models/tables/sample_model.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/tables/samples_panel.h"
#include "widgets/views/tasks/output_tasks.h"
#include "widgets/views/tasks/position_chart.h"

#include <QAbstractItemModelTester>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <cmath>

using namespace qs;
using qs::test::realBuild;

namespace {

constexpr int kPatience = 60'000;

/// The panels of outputs and samples over the bundled classifier, compared.
struct Panels {
    Session session { realBuild() };
    std::unique_ptr<TablePanel> outputs { makeOutputsPanel(session, nullptr) };
    SamplesPanel samples { session };

    Panels()
    {
        const std::string folder = QS_SOURCE_DIR "/resources/examples/";
        Inputs inputs;
        inputs.floatPath = folder + "digits_float.onnx";
        inputs.quantPath = folder + "digits_qdq_narrow.onnx";
        inputs.data.spec = folder + "digits_samples.npz";
        inputs.data.limit = 20;
        session.openInputs(inputs);
    }
    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && session.comparison() && !session.comparison()->partial; },
            kPatience);
    }
    const TaskRow& task() const { return session.comparison()->outputs[0].task; }
    QStringList columns() const
    {
        QStringList titles;
        for (int column = 0; column < samples.model()->columnCount(); ++column)
            if (!samples.table()->isColumnHidden(column))
                titles << samples.model()->column(column).title;
        return titles;
    }
    QToolButton* button() { return outputs->findChild<QToolButton*>(QStringLiteral("outputTask")); }
    QAction* choice(const QString& text)
    {
        QMenu* menu = button()->menu();
        emit menu->aboutToShow();
        for (QAction* action : menu->actions())
            if (action->text() == text)
                return action;
        return nullptr;
    }
};

SnapshotPtr withTask(const Snapshot& from, TaskKind kind)
{
    auto snapshot = std::make_shared<Snapshot>(from);
    Comparison& c = *snapshot->comparison;
    TaskRow& task = c.outputs[0].task;
    task = {};
    task.what = { kind, kind == TaskKind::Boxes ? BoxForm::Yolov8 : BoxForm::None };
    task.agreement = 0.75;
    task.samples.assign(c.samples, { 1.0, {}, { 1, 2, 2, 2, 0, 1.9, 0 }, false });
    task.samples[3] = { 0.5, kind == TaskKind::Sequence ? Number(4) : Number(), { 1, 2, 2, 1, 0, 0.9, 0 }, true };
    task.boxes = { 20, 40, 40, 39, 0, 38, 0.5 };
    task.differing = 1;
    c.floatClass.clear();
    c.quantClass.clear();
    c.floatMargin.clear();
    c.quantMargin.clear();
    return snapshot;
}

} // namespace

class TaskViewsTest : public QObject {
    Q_OBJECT
private slots:
    void tellingATask();
    void thresholdsOfBoxes();
    void columnsOfSamples_data();
    void columnsOfSamples();
    void summaryOfTheHeader();
    void boxesInThePicture();
    void maskInThePicture();
    void textsOfOneSample();
    void textsOfTwoModels();
    void chartOfPositions();
    void noBoxesAreNoAgreement();
};

void TaskViewsTest::tellingATask()
{
    Panels p;
    QVERIFY(!p.button()->isEnabled());
    QVERIFY(p.ready());
    QVERIFY(p.task().what.kind == TaskKind::Classes && !p.task().told);
    QCOMPARE(p.button()->text(), QStringLiteral("Task: classes")); // the only output needs no choice
    QVERIFY(p.columns().contains(QStringLiteral("margin")) && !p.columns().contains(QStringLiteral("agreement")));
    QVERIFY(p.choice(QStringLiteral("Automatic (classes)"))->isChecked());
    QVERIFY(!p.choice(QStringLiteral("mask")) && !p.choice(QStringLiteral("Thresholds of boxes …")));
    p.choice(QStringLiteral("values"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(p.session.comparison() && p.task().told, kPatience);
    QVERIFY(p.ready());
    QCOMPARE(p.button()->text(), QStringLiteral("Task: values (told)"));
    QVERIFY(!p.session.comparison()->outputs[0].top1Agreement);
    QVERIFY(!p.columns().contains(QStringLiteral("margin")) && !p.columns().contains(QStringLiteral("class")));
    QCOMPARE(p.session.files().tasks.told.size(), size_t(1));
    QVERIFY(p.choice(QStringLiteral("Automatic (classes)")));
    p.choice(QStringLiteral("Automatic (classes)"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(!p.task().told && p.task().agreement, kPatience);
    QVERIFY(p.columns().contains(QStringLiteral("margin")));
}

void TaskViewsTest::thresholdsOfBoxes()
{
    Panels p;
    QVERIFY(p.ready());
    const SnapshotPtr boxes = withTask(*p.session.snapshot(), TaskKind::Boxes);
    QMenu menu(p.outputs.get());
    Session session([boxes](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                        const PartialFn&) -> Result<SnapshotPtr> { return boxes; });
    session.openInputs(boxes->inputs);
    QTRY_VERIFY_WITH_TIMEOUT(session.comparison() && session.jobs().idle(), kPatience);
    fillTaskMenu(menu, session, 0);
    QAction* action = menu.actions().back();
    QCOMPARE(action->text(), QStringLiteral("Thresholds of boxes …"));
    action->trigger();
    auto* dialog = p.outputs->findChild<QDialog*>(QStringLiteral("boxThresholds"));
    QVERIFY(dialog);
    const auto fields = dialog->findChildren<QDoubleSpinBox*>();
    QCOMPARE(fields.size(), 3);
    QCOMPARE(fields[0]->value(), 0.25);
    fields[0]->setValue(0.4);
    dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
    QCOMPARE(session.wantedFiles().tasks.boxes.score, 0.4);
    QCOMPARE(session.wantedFiles().tasks.boxes.match, 0.5);
    QTRY_VERIFY_WITH_TIMEOUT(session.jobs().idle(), kPatience);
}

void TaskViewsTest::columnsOfSamples_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("difference");
    QTest::newRow("sequence") << int(TaskKind::Sequence) << QStringLiteral("from position 4");
    QTest::newRow("boxes") << int(TaskKind::Boxes) << QStringLiteral("1 missed, 1 extra");
}

void TaskViewsTest::columnsOfSamples()
{
    QFETCH(int, kind);
    QFETCH(QString, difference);
    Panels p;
    QVERIFY(p.ready());
    SampleModel model;
    QAbstractItemModelTester tester(&model);
    model.setSnapshot(p.session.snapshot());
    model.setSnapshot(withTask(*p.session.snapshot(), TaskKind(kind)));
    const int agreement = model.columnOf(SampleModel::Key::Agreement);
    QCOMPARE(model.index(3, agreement).data().toString(), QStringLiteral("50.0 %"));
    QCOMPARE(model.index(3, agreement + 1).data().toString(), difference);
    QVERIFY(model.index(2, agreement + 1).data().toString().isEmpty());
    QVERIFY(!model.index(2, model.columnOf(SampleModel::Key::QuantMargin)).data(SortRole).isValid());
    QVERIFY(model.column(agreement).when(*withTask(*p.session.snapshot(), TaskKind(kind))->comparison));
    QVERIFY(!model.column(agreement).when(*p.session.comparison()));
}

void TaskViewsTest::summaryOfTheHeader()
{
    Panels p;
    QVERIFY(p.ready());
    Comparison c = *withTask(*p.session.snapshot(), TaskKind::Boxes)->comparison;
    c.accuracy.reset();
    const auto items = outcomeSummary(c);
    QCOMPARE(items.back().label, QStringLiteral("Boxes that agree"));
    QCOMPARE(items.back().value, QStringLiteral("75.0 %"));
    QVERIFY(items.back().toolTip.contains(QStringLiteral("39 matched")));
    c.outputs[0].language = LanguageRow { 2, 10, 0, std::log(8.0), std::log(9.5), 0.04, 0.2, 1.5 };
    const auto guessed = outcomeSummary(c);
    QCOMPARE(guessed[1].label, QStringLiteral("Perplexity"));
    QCOMPARE(guessed[1].value, QStringLiteral("8.000 → 9.500"));
    QVERIFY(guessed[1].toolTip.contains(QStringLiteral("2.0794 → 2.2513")));
    QVERIFY(!guessed[1].toolTip.contains(QStringLiteral("left out")));
    c.outputs[0].language->withoutNumbers = 3;
    QVERIFY(outcomeSummary(c)[1].toolTip.contains(QStringLiteral("whose scores are infinite or NaN: 3.")));
    c.outputs[0].task = {};
    QCOMPARE(outcomeSummary(c).size(), size_t(1)); // the SQNR alone
}

void TaskViewsTest::boxesInThePicture()
{
    QImage grey(64, 64, QImage::Format_RGB888);
    grey.fill(QColor(90, 90, 90));
    SampleBoxes boxes { { { 8, 8, 40, 40, 0.9F, 0 } }, { { 8, 8, 40, 40, 0.8F, 0 }, { 44, 44, 60, 60, 0.7F, 1 } }, {} };
    boxes.matches = matchedBoxes(boxes.x, boxes.y, 0.5);
    const Theme theme = Theme::light();
    const QImage image = withBoxes(grey, boxes, { 64, 64 }, theme, {});
    const auto count = [&](const QColor& colour) {
        int pixels = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                pixels += image.pixelColor(x, y) == colour;
        return pixels;
    };
    QVERIFY(count(theme.floatSeries) > 50 && count(theme.quantSeries) > 50);
    QVERIFY(!withBoxes(grey, boxes, {}, theme, {}).isNull()); // an input that is no picture
}

void TaskViewsTest::maskInThePicture()
{
    SampleMasks masks { 2, 2, { 0, 1, 1, 2 }, { 0, 0, 1, 1 } }; // lost at the right top, another at the right below
    const Theme theme = Theme::light();
    const QImage image = withMask({}, masks, theme);
    const int side = image.width();
    QCOMPARE(image.pixelColor(side * 3 / 4, side * 3 / 4), theme.quantSeries);
    QVERIFY(image.pixelColor(side / 4, side / 4) != theme.quantSeries);
    int striped = 0;
    for (int x = side * 5 / 8; x < side * 7 / 8; ++x)
        striped += image.pixelColor(x, side / 4) == theme.floatSeries;
    QVERIFY(striped > side / 16 && striped < side * 3 / 16);
}

void TaskViewsTest::textsOfOneSample()
{
    const Theme theme = Theme::light();
    SampleSide side;
    const auto text = [&](const ClassNames& names) { return sampleText(side, nullptr, names, theme); };
    QVERIFY(text({}).isEmpty());
    side.task.kind = TaskKind::Sequence;
    side.outputs = { { "y", { 1, 3, 2 }, { 0, 1, 1, 0, 0, 1 }, { 0, 1, 0, 1, 0, 1 } } };
    const QString sequence = text({ "no", "yes" });
    QVERIFY(sequence.contains(QStringLiteral("1 of 3 positions")) && sequence.contains(QStringLiteral("yes")));
    side.task.kind = TaskKind::Boxes;
    side.task.boxes = SampleBoxes { { { 0, 0, 9, 9, 0.9F, 1 } }, {}, {} };
    QVERIFY(text({ "cat", "dog <b>" }).contains(QStringLiteral("dog &lt;b&gt;")));
    side.task.boxes = SampleBoxes { {}, {}, {}, 0.25 };
    QVERIFY(text({}).contains(QStringLiteral("No boxes above 0.25 in either model.")));
    side.task.boxes.reset();
    side.task.masks = SampleMasks { 1, 4, { 0, 0, 1, 1 }, { 0, 1, 1, 1 } };
    QVERIFY(text({}).contains(QStringLiteral("1 of 4 pixels")));
}

/// With a second quantized model each says its own, and who flips is marked.
void TaskViewsTest::textsOfTwoModels()
{
    const Theme theme = Theme::light();
    SampleSide a, b;
    const ClassNames names { "no", "yes", "why" };
    const auto text = [&] { return sampleText(a, &b, names, theme); };
    a.task.kind = b.task.kind = TaskKind::Classes;
    a.outputs = { { "y", { 1, 3 }, { 3, 2, 1 }, { 4, 2, 1 } } };
    b.outputs = { { "z", { 1, 1 }, { 0 }, { 0 } }, { "y", { 1, 3 }, { 3, 2, 1 }, { 1, 2, 7 } } };
    QVERIFY(text().contains(QStringLiteral("A: the float model's class")));
    QVERIFY(text().contains(QStringLiteral("B flips: no → why")) && text().contains(theme.clipping.name()));
    QVERIFY(text().contains(QStringLiteral("<b>7</b>")) && text().contains(QStringLiteral("<b>4</b>")));

    a.task.kind = TaskKind::Sequence;
    a.outputs = { { "y", { 1, 3, 2 }, { 0, 1, 1, 0, 0, 1 }, { 0, 1, 0, 1, 0, 1 } } };
    b.outputs = { { "y", { 1, 3, 2 }, { 0, 1, 1, 0, 0, 1 }, { 1, 0, 0, 1, 0, 1 } } };
    QVERIFY(text().contains(QStringLiteral("Of 3 positions 1 have another class in A, 2 in B.")));

    a.task.kind = TaskKind::Boxes;
    a.task.boxes = SampleBoxes { { { 0, 0, 9, 9, 0.9F, 1 } }, {}, {}, 0.25 };
    b.task.boxes = SampleBoxes { {}, {}, {}, 0.25 };
    QVERIFY(text().indexOf(QStringLiteral("<b>B</b>")) > text().indexOf(QStringLiteral("yes")));
    QVERIFY(text().contains(QStringLiteral("No boxes above 0.25")));
    b.task.boxes.reset();
    QVERIFY(text().contains(QStringLiteral("cannot be read")));
}

void TaskViewsTest::chartOfPositions()
{
    const Theme theme = Theme::light();
    SampleSide a, b;
    QVERIFY(positionMargins(a, nullptr, {}, theme).items.empty());
    a.task.kind = TaskKind::Sequence;
    a.outputs = { { "y", { 1, 3, 2 }, { 0, 1, 5, 0, 0, 1 }, { 0, 1, 1, 3, 0, 1 } } };
    b.outputs = { { "y", { 1, 3, 2 }, { 0, 1, 5, 0, 0, 1 }, { 2, 0, 5, 0, 0, 4 } } };
    const LineData one = positionMargins(a, nullptr, { "no", "yes" }, theme);
    QCOMPARE(one.series.size(), size_t(2));
    QCOMPARE(one.series[0].values, (std::vector<double> { 1, 5, 1 }));
    QCOMPARE(one.series[1].values, (std::vector<double> { 1, -2, 1 })); // below 0 where the class is another one
    QCOMPARE(one.items[1], QStringLiteral("position 1: no → yes"));
    QCOMPARE(one.items[2], QStringLiteral("position 2: yes"));
    const LineData both = positionMargins(a, &b, { "no", "yes" }, theme);
    QCOMPARE(both.series.size(), size_t(3));
    QCOMPARE(both.series[2].values, (std::vector<double> { -2, 5, 4 }));
    QCOMPARE(both.series[2].colour, theme.otherSeries);

    TaskRow task;
    QVERIFY(positionShares(task, nullptr, theme).items.empty());
    task.what.kind = TaskKind::Sequence;
    task.counts = { { 4, 4, 0 }, { 4, 1, 0 } };
    TaskRow other = task;
    other.counts.same[1] = 3;
    const LineData shares = positionShares(task, &other, theme);
    QCOMPARE(shares.items.size(), size_t(3));
    QCOMPARE(shares.series[0].values[1], 25.0);
    QCOMPARE(shares.series[1].values[1], 75.0);
    QVERIFY(std::isnan(shares.series[0].values[2]));
}

/// A detector that finds nothing is not said to agree.
void TaskViewsTest::noBoxesAreNoAgreement()
{
    Panels p;
    QVERIFY(p.ready());
    auto made = std::make_shared<Snapshot>(*withTask(*p.session.snapshot(), TaskKind::Boxes));
    TaskRow& task = made->comparison->outputs[0].task;
    task.boxes = {};
    task.boxes.samples = 20;
    task.differing = 0;
    const SnapshotPtr nothing = made;
    Session session([nothing](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                        const PartialFn&) -> Result<SnapshotPtr> { return nothing; });
    SamplesPanel panel(session);
    session.openInputs(nothing->inputs);
    QTRY_VERIFY_WITH_TIMEOUT(session.comparison() && session.jobs().idle(), kPatience);
    const auto said = [&] {
        QString all;
        for (const QLabel* label : panel.header()->findChildren<QLabel*>())
            all += label->text();
        return all;
    };
    QVERIFY2(said().contains(QStringLiteral("no boxes above 0.25 in either")), qPrintable(said()));
    QVERIFY(!said().contains(QStringLiteral("none differs")));
}

QTEST_MAIN(TaskViewsTest)
#include "test_task_views.moc"
