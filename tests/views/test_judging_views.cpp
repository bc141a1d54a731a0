// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/build_snapshot.h"
#include "widgets/models/tables/judging_models.h"
#include "widgets/session/details/shown_checks.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/distribution_data.h"
#include "widgets/views/detail/layer_chart_panel.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/tables/judging_panels.h"
#include "widgets/views/tables/ladder_panel.h"
#include "widgets/views/window/main_window.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QFile>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;

namespace {

constexpr int kPatience = 60'000;
const std::string kFolder = QS_SOURCE_DIR "/resources/examples/";

Inputs example(const std::string& quantized)
{
    Inputs inputs;
    inputs.floatPath = kFolder + "digits_float.onnx";
    if (!quantized.empty())
        inputs.quantPath = kFolder + quantized;
    inputs.data.spec = kFolder + "digits_samples.npz";
    inputs.data.limit = 40;
    return inputs;
}

/// A window with an example, compared.
struct Shown {
    Session session { [](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
                          const CancelToken& cancel, const PartialFn& partial) {
        return buildSnapshot(inputs, previous, progress, cancel, partial);
    } };
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };

    explicit Shown(const Inputs& inputs)
    {
        window.resize(1600, 1000);
        window.show();
        session.openInputs(inputs);
    }
    bool settled()
    {
        return QTest::qWaitFor([this] { return session.jobs().idle() && session.comparison(); }, kPatience);
    }
    template <class PanelType> PanelType& panel() { return *window.findChild<PanelType*>(); }
    /// Rows of a panel that is brought to the front.
    int rowsOf(const QString& name, TablePanel& panel)
    {
        window.showView(name);
        if (!QTest::qWaitFor([&] { return session.jobs().idle() && panel.lookedAt(); }, kPatience))
            return -1;
        return panel.model()->rowCount();
    }
};

QPushButton* buttonOf(QWidget& panel, const QString& text)
{
    for (QWidget* where : { &panel, static_cast<Panel&>(panel).header()->parentWidget() })
        for (QPushButton* button : where->findChildren<QPushButton*>())
            if (button->text() == text)
                return button;
    return nullptr;
}

QString textAt(const ColumnModel& model, int row, const QString& title)
{
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.column(column).title == title)
            return model.index(row, column).data().toString();
    return {};
}

std::vector<float> scalesOf(const Session& session)
{
    std::vector<float> scales;
    for (const ActivationRow& row : session.comparison()->activations)
        scales.insert(scales.end(), row.params.scale.begin(), row.params.scale.end());
    return scales;
}

} // namespace

class TestJudgingViews : public QObject {
    Q_OBJECT
private slots:
    void modelsFollowTheirRows()
    {
        FileModel files;
        ElementModel elements;
        LadderModel ladder;
        for (QAbstractItemModel* model : std::initializer_list<QAbstractItemModel*> { &files, &elements, &ladder })
            new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest, model);
        FileFacts facts;
        facts.role = "b";
        facts.bytes = 3'400'000;
        facts.codeShare = 0.5;
        files.setFiles({ facts });
        QCOMPARE(textAt(files, 0, QStringLiteral("model")), QStringLiteral("B"));
        QCOMPARE(textAt(files, 0, QStringLiteral("size")), QStringLiteral("3.40 MB"));
        QCOMPARE(textAt(files, 0, QStringLiteral("on codes")), QStringLiteral("50.0 %"));
        facts.time = RunTime { 12, 10, 15, 9, 2 };
        files.setFiles({ facts, FileFacts {} });
        QVERIFY(textAt(files, 0, QStringLiteral("time")).contains(QStringLiteral("12")));
        elements.setElements({ { "x", "x", "x_q", true, 4, 1, 0.5, ElementPlace { 2, { 0, 3 }, 1.0, 1.5 } },
            { "y", "y", "y", false, 4 } });
        QCOMPARE(textAt(elements, 0, QStringLiteral("first beyond")), QStringLiteral("sample 2, [0, 3]"));
        QCOMPARE(textAt(elements, 0, QStringLiteral("B there")), QStringLiteral("1.50000"));
        elements.setElements({});
        LadderRow row;
        row.name = "logits";
        row.accuracyBefore = 0.95;
        row.accuracyAfter = 0.9;
        ladder.setLadder({ row });
        QCOMPARE(textAt(ladder, 0, QStringLiteral("accuracy")), QStringLiteral("95.0 % → 90.0 %"));
        QCOMPARE(textAt(ladder, 0, QStringLiteral("agrees")), QStringLiteral("no"));
    }

    /// Ranges follow the calibration data, numbers the data to judge by.
    void calibrationAndJudgingApart()
    {
        Shown shown(example({}));
        QVERIFY(shown.settled());
        Session& session = shown.session;
        QVERIFY(session.snapshot()->quantization);
        QCOMPARE(calibrationLine(*session.snapshot()), QStringLiteral("the same data calibrate and judge"));
        auto* note = shown.window.findChild<QPushButton*>(QStringLiteral("calibrationNote"));
        QVERIFY(note && note->isVisible());
        const auto before = scalesOf(session);
        const auto data = session.snapshot()->data;

        QTemporaryDir folder;
        const QString other = folder.filePath(QStringLiteral("other.npz"));
        QVERIFY(QFile::copy(QString::fromStdString(kFolder + "digits_samples.npz"), other));
        openCalibration(session, other);
        QVERIFY(shown.settled());
        QCOMPARE(session.snapshot()->data, data); // was not opened again
        QVERIFY(session.snapshot()->calibrationData);
        QCOMPARE(session.snapshot()->calibrationData->samples(), size_t(200));
        QCOMPARE(session.comparison()->samples, size_t(40));
        QVERIFY(scalesOf(session) != before);
        QCOMPARE(calibrationLine(*session.snapshot()), QStringLiteral("calibrated on other.npz (200)"));
        QVERIFY(note->text().startsWith(QStringLiteral("calibrated on")));

        const std::string path = folder.filePath(QStringLiteral("work.qscope")).toStdString();
        const auto kept = projectFromJson(projectToJson(projectOf(session), path), path);
        QVERIFY(kept.ok());
        QCOMPARE(kept->inputs.calibration.spec, other.toStdString());

        session.recipe().apply(QStringLiteral("per channel"), [&] {
            Recipe recipe = session.recipe().recipe();
            recipe.perChannel = !recipe.perChannel;
            return recipe;
        }());
        QVERIFY(shown.settled());
        QCOMPARE(session.snapshot()->inputs.calibration.spec, other.toStdString()); // an edit keeps them
        session.recipe().stack().undo();
        QVERIFY(shown.settled());

        openCalibration(session, QString::fromStdString(session.files().data.spec));
        QVERIFY(shown.settled());
        QVERIFY(!session.snapshot()->calibrationData); // the same file is no other data
        QCOMPARE(scalesOf(session), before);
    }

    void aQuantizedFileWasCalibratedElsewhere()
    {
        Shown shown(example("digits_qdq.onnx"));
        QVERIFY(shown.settled());
        QVERIFY(calibrationLine(*shown.session.snapshot()).isEmpty());
        QVERIFY(!shown.window.findChild<QPushButton*>(QStringLiteral("calibrationNote"))->isVisible());
    }

    void elementsAreCompared()
    {
        Inputs inputs = example("digits_qdq.onnx");
        inputs.other.path = kFolder + "digits_qdq_narrow.onnx";
        Shown shown(inputs);
        QVERIFY(shown.settled());
        auto& panel = shown.panel<ElementsPanel>();
        QCOMPARE(shown.rowsOf(QStringLiteral("elements"), panel), 0);
        QPushButton* compare = buttonOf(panel, QStringLiteral("Compare"));
        QVERIFY(compare && compare->isEnabled());
        QTest::mouseClick(compare, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(panel.model()->rowCount() > 3, kPatience);
        const ElementDifferences* found = shown.window.elements().found();
        QVERIFY(found);
        QVERIFY(std::ranges::any_of(found->rows, [](const ElementRow& row) { return row.beyond > 0; }));
        // without a second model: float against quantized
        openOther(shown.session, {});
        QVERIFY(shown.settled());
        QTRY_VERIFY_WITH_TIMEOUT(shown.window.elements().found(), kPatience);
        for (const ElementRow& row : shown.window.elements().found()->rows)
            QCOMPARE(row.aName, row.name);
    }

    void filesSideBySide()
    {
        Inputs inputs = example("digits_qdq.onnx");
        inputs.other.path = kFolder + "digits_qdq_narrow.onnx";
        Shown shown(inputs);
        QVERIFY(shown.settled());
        auto& panel = shown.panel<FilesPanel>();
        shown.window.showView(QStringLiteral("files"));
        QTRY_COMPARE_WITH_TIMEOUT(panel.model()->rowCount(), 3, kPatience);
        QCOMPARE(textAt(*panel.model(), 1, QStringLiteral("model")), QStringLiteral("A"));
        QCOMPARE(textAt(*panel.model(), 2, QStringLiteral("file")), QStringLiteral("digits_qdq_narrow.onnx"));
        const QString none = textAt(*panel.model(), 0, QStringLiteral("time"));
        QPushButton* measure = buttonOf(panel, QStringLiteral("Measure time"));
        QVERIFY(measure);
        QTRY_VERIFY_WITH_TIMEOUT(measure->isEnabled(), kPatience);
        QTest::mouseClick(measure, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(textAt(*panel.model(), 2, QStringLiteral("time")) != none, kPatience);
    }

    /// Going back to a recipe that was run by another arithmetic since.
    void runsAreOfWhatIsShown()
    {
        Inputs inputs = example("");
        Shown shown(inputs);
        QVERIFY(shown.settled());
        RecipeEdits& edits = shown.session.recipe();
        const Recipe first = edits.recipe();
        Recipe other = first;
        other.perChannel = !first.perChannel;
        const auto numbers = [&] {
            const RunTree& tree = shown.session.runs().tree();
            return *tree.find(tree.current())->numbers;
        };
        const double simulated = *numbers().outputSqnrDb;
        edits.apply(QStringLiteral("other"), other);
        QVERIFY(shown.settled());
        setArithmetic(shown.session, ArithmeticProfile::IntegerAvx2);
        QVERIFY(shown.settled());
        edits.apply(QStringLiteral("back"), first);
        QVERIFY(shown.settled());
        QCOMPARE(numbers().measuredOn, measuredOn(*shown.session.snapshot()));
        setArithmetic(shown.session, ArithmeticProfile::Simulated);
        QVERIFY(shown.settled());
        QCOMPARE(numbers().measuredOn, measuredOn(*shown.session.snapshot()));
        QCOMPARE(*numbers().outputSqnrDb, simulated);
    }

    void equalModelsHaveNoNoiseToDraw()
    {
        Shown shown(example("digits_float.onnx"));
        QVERIFY(shown.settled());
        const Snapshot& snapshot = *shown.session.snapshot();
        const LineData chart = layerChartData(snapshot, Theme::light());
        QVERIFY(chart.items.empty() && chart.series.empty());
        QVERIFY(chart.emptyText.contains(QStringLiteral("compute the same")));
        Place place;
        place.activation = 0;
        const DistributionView view = distributionOf(snapshot, place, Theme::light());
        QVERIFY(!view.data.series.empty());
        for (const HistogramSeries& series : view.data.series)
            QVERIFY(series.name != QStringLiteral("noise"));
    }

    void ladderIsClimbed()
    {
        QTemporaryDir folder;
        const QString npz = folder.filePath(QStringLiteral("float.npz"));
        QCOMPARE(QProcess::execute(QStringLiteral(QS_CLI),
                     { QStringLiteral("run"), QString::fromStdString(kFolder + "digits_float.onnx"),
                         QStringLiteral("--data"), QString::fromStdString(kFolder + "digits_samples.npz"),
                         QStringLiteral("--limit"), QStringLiteral("40"), QStringLiteral("--out"), npz }),
            0);
        Shown shown(example("digits_qdq_narrow.onnx"));
        QVERIFY(shown.settled());
        auto& panel = shown.panel<LadderPanel>();
        QCOMPARE(shown.rowsOf(QStringLiteral("ladder"), panel), 0);
        ShownLadder& ladder = shown.window.ladder();
        ladder.setFiles({ npz.toStdString(), {} });
        QTRY_VERIFY_WITH_TIMEOUT(ladder.ladder(), kPatience);
        QCOMPARE(panel.model()->rowCount(), 3);
        QCOMPARE(textAt(*panel.model(), 0, QStringLiteral("agrees")), QStringLiteral("yes"));
        QCOMPARE(textAt(*panel.model(), 0, QStringLiteral("rule")), QStringLiteral("relative error up to 1e-5"));
        QCOMPARE(textAt(*panel.model(), 1, QStringLiteral("rule")), QStringLiteral("accuracy within 1 point"));
        QCOMPARE(textAt(*panel.model(), 1, QStringLiteral("agrees")), QStringLiteral("no"));
        ladder.setFiles({ folder.filePath(QStringLiteral("none.npz")).toStdString(), {} });
        QTRY_VERIFY_WITH_TIMEOUT(!ladder.problem().isEmpty(), kPatience);
        QCOMPARE(panel.model()->rowCount(), 0);
    }
};

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    TestJudgingViews test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_judging_views.moc"
