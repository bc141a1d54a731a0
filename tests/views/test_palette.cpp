// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/example_window.h"
#include "tests/views/support/fake_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/recipe/recipe_fields.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/findings/finding_card.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/recipe/recipe_form.h"
#include "widgets/views/theme/style.h"

#include <QApplication>
#include <QLabel>
#include <QListView>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QThread>

using namespace qs;
using namespace qs::test;

class TestPalette : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_folder); }

    void init() { QSettings().clear(); }

    void thePaletteFindsActions()
    {
        Shown shown;
        QVERIFY(shown.open());
        shown.window.tensors().table()->setFocus();
        QVERIFY(shown.find(QStringLiteral("theme dark")));
        QCOMPARE(shown.rows().front(), QStringLiteral("Theme: Dark"));
        QVERIFY(shown.palette()
                    .list()
                    ->currentIndex()
                    .data(PaletteModel::NoteRole)
                    .toString()
                    .contains(QStringLiteral("View")));
        QTest::keyClick(shown.palette().field(), Qt::Key_Return);
        QVERIFY(shown.session.theme().dark);
        QVERIFY(!shown.palette().isVisible());
        QVERIFY(shown.window.tensors().table()->hasFocus()); // back where it was
        QVERIFY(shown.find(QStringLiteral(">")));
        QCOMPARE(shown.rows().front(), QStringLiteral("Theme: Dark")); // used last
    }

    void thePaletteGoesToNodesAndTensors()
    {
        Shown shown;
        QVERIFY(shown.open());
        QVERIFY(shown.find(QStringLiteral("#conv_9")));
        QTest::keyClick(shown.palette().field(), Qt::Key_Return);
        QCOMPARE(shown.session.selection().current().activation, std::optional<size_t>(9));
        QVERIFY(shown.find(QStringLiteral("@conv_4")));
        QTest::mouseClick(shown.palette().list()->viewport(), Qt::LeftButton, {},
            shown.palette().list()->visualRect(shown.palette().model().index(0)).center());
        QVERIFY(!shown.palette().isVisible());
        QCOMPARE(shown.session.selection().current().activation, std::optional<size_t>(4));
        QVERIFY(shown.find(QStringLiteral("weight lab")));
        QTest::keyClick(shown.palette().field(), Qt::Key_Return);
        QTRY_VERIFY(shown.window.findChild<Panel*>(QStringLiteral("weight-lab"))->lookedAt());
    }

    void thePaletteFindsNodesDuringARun()
    {
        QAtomicInt enough;
        Session session([&enough](const Inputs& inputs, const SnapshotPtr& before, const ProgressFn& progress,
                            const CancelToken& cancel, const PartialFn& partial) -> Result<SnapshotPtr> {
            QS_TRY(const SnapshotPtr made, fakeBuild(inputs, before, progress, cancel, partial));
            for (; !enough && !cancel.cancelled(); QThread::msleep(1)) { // faster than names can be listed
                auto now = std::make_shared<Snapshot>(*made);
                now->comparison->partial = true;
                partial(now);
            }
            return made;
        });
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        Inputs inputs;
        inputs.floatPath = "/models/float.onnx";
        session.openInputs(inputs);
        QTRY_VERIFY(session.comparison() && session.comparison()->partial);
        window.finder().open(QStringLiteral("@conv_4"));
        QTRY_VERIFY(window.finder().model().rowCount() > 0);
        QVERIFY(session.comparison()->partial);
        enough = 1;
    }

    /// What one box stands for is one entry; a setting takes the user to its field.
    void thePaletteKnowsTheRecipe()
    {
        ExampleWindow example;
        QVERIFY(QTest::qWaitForWindowActive(&example.window) && example.ready());
        Palette& palette = example.window.finder();
        palette.open(QStringLiteral("@/stem/"));
        QTRY_VERIFY(palette.model().rowCount() > 0 && !palette.model().searching());
        QCOMPARE(palette.model().index(0).data().toString(), QStringLiteral("/stem/conv/Conv + /stem/relu/Relu"));
        for (int row = 1; row < palette.model().rowCount(); ++row) // the others are quantizers
            QVERIFY(palette.model().index(row).data().toString() != QStringLiteral("/stem/relu/Relu"));
        QTest::keyClick(palette.field(), Qt::Key_Return);
        QVERIFY(example.session.selection().current().node.valid());
        for (const RecipeField& field : recipeFields()) {
            palette.open(u'=' + field.title);
            QTRY_VERIFY(palette.model().rowCount() > 0 && !palette.model().searching());
            QCOMPARE(palette.model().index(0).data().toString(), field.title);
            if (palette.model().index(0).data(PaletteModel::WhyNotRole).toString().isEmpty()) {
                QTest::keyClick(palette.field(), Qt::Key_Return);
                QCOMPARE(example.window.findChild<RecipeForm*>()->editor(field.path()), QApplication::focusWidget());
            } else {
                QVERIFY(!field.applies(example.session.recipe().recipe()));
            }
        }
    }

    /// The values of settings, too: one step of undo.
    void thePaletteFindsValuesOfSettings()
    {
        ExampleWindow example;
        QVERIFY(QTest::qWaitForWindowActive(&example.window) && example.ready());
        example.session.setAutoRun(false);
        Palette& palette = example.window.finder();
        palette.open(QStringLiteral("percentile"));
        const auto wanted = [&] {
            for (int row = 0; row < palette.model().rowCount(); ++row)
                if (palette.model().index(row).data().toString().endsWith(QStringLiteral(": percentile")))
                    return row;
            return -1;
        };
        QTRY_VERIFY(wanted() >= 0);
        palette.list()->setCurrentIndex(palette.model().index(wanted()));
        QTest::keyClick(palette.field(), Qt::Key_Return);
        QVERIFY(example.session.recipe().recipe().calibration.kind == Calibrator::Percentile);
        QCOMPARE(example.stack().count(), 1);
        example.stack().undo();
        QVERIFY(example.session.recipe().recipe().calibration.kind != Calibrator::Percentile);
        for (const RecipeField& field : recipeFields()) // one without the other could not be run
            for (int choice = 0; choice < int(field.choices.size()); ++choice) {
                if (!field.choices[choice].startsWith(QStringLiteral("float8")))
                    continue;
                applyField(example.session.recipe(), field, choice);
                const Recipe& now = example.session.recipe().recipe();
                QCOMPARE(now.activationType, now.weightType);
                example.stack().undo();
            }
    }

    /// What was chosen is what is seen, also far down the list.
    void thePaletteGoesToFindings()
    {
        ExampleWindow example;
        example.window.resize(1280, 640);
        QVERIFY(QTest::qWaitForWindowActive(&example.window) && example.ready());
        const std::vector<Finding> findings = example.session.comparison()->findings;
        QVERIFY(findings.size() > 2);
        auto* panel = example.window.findChild<FindingsPanel*>();
        Palette& palette = example.window.finder();
        for (const size_t wanted : { findings.size() - 1, size_t(0) }) {
            const QString title = findingText(findings[wanted].title);
            palette.open(u'!' + title);
            QTRY_VERIFY(palette.model().rowCount() > 0 && !palette.model().searching());
            QCOMPARE(palette.model().index(0).data().toString(), title);
            QTest::keyClick(palette.field(), Qt::Key_Return);
            QTRY_VERIFY(qobject_cast<FindingCard*>(QApplication::focusWidget()));
            const auto* card = static_cast<FindingCard*>(QApplication::focusWidget());
            QVERIFY2(card->text().contains(title), qPrintable(card->text()));
            const QWidget* view = panel->findChild<QScrollArea*>()->viewport();
            QTRY_VERIFY(view->rect().contains(card->mapTo(view, QPoint(1, 1))));
        }
    }

    void exportsSayWhatTheyAre_data()
    {
        QTest::addColumn<RecipeFormat>("format");
        QTest::addColumn<QString>("own");
        QTest::addColumn<bool>("others"); ///< are another model
        QTest::newRow("Q/DQ pairs") << RecipeFormat::Qdq << QStringLiteral("Q/DQ pairs") << false;
        QTest::newRow("QOperators") << RecipeFormat::QOperator << QStringLiteral("QOperators") << false;
        QTest::newRow("dynamic") << RecipeFormat::Dynamic << QStringLiteral("dynamic ranges") << true;
        QTest::newRow("weight-only") << RecipeFormat::WeightOnly << QStringLiteral("weights in blocks") << true;
    }

    /// The recipe's own format stands first; another one says that it is another model.
    void exportsSayWhatTheyAre()
    {
        QFETCH(RecipeFormat, format);
        QFETCH(QString, own);
        QFETCH(bool, others);
        ExampleWindow example;
        QVERIFY(QTest::qWaitForWindowActive(&example.window) && example.ready());
        example.session.setAutoRun(false);
        Recipe recipe = example.session.recipe().recipe();
        recipe.format = format;
        example.session.recipe().apply(QStringLiteral("Format"), recipe);
        const auto text = [&](const char* id) {
            const ActionEntry* entry = example.window.actions().find(QString::fromLatin1(id));
            return entry ? entry->text() : QString();
        };
        QCOMPARE(text("export.model"), QStringLiteral("ONNX as the recipe has it: %1…").arg(own));
        for (const char* id : { "export.qdq", "export.qoperator" })
            QCOMPARE(text(id).contains(QStringLiteral("another model")), others);
    }

    void thePaletteSaysThatNothingMatches()
    {
        Shown shown;
        QVERIFY(shown.open());
        shown.window.graph().canvas().setFocus();
        QVERIFY(shown.find(QStringLiteral("qqqqzzzz")));
        QCOMPARE(shown.rows(), QStringList());
        const QList<QLabel*> labels = shown.palette().findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(
            labels, [](const QLabel* l) { return l->text() == QStringLiteral("No match for “qqqqzzzz”"); }));
        QTest::keyClick(shown.palette().field(), Qt::Key_Return);
        QVERIFY(shown.palette().isVisible());
        QTest::keyClick(shown.palette().field(), Qt::Key_Escape);
        QVERIFY(!shown.palette().isVisible());
        QVERIFY(shown.window.graph().canvas().hasFocus());
    }

    void thePaletteShowsWhatCannotBeDone()
    {
        Shown shown;
        QVERIFY(QTest::qWaitForWindowActive(&shown.window));
        QVERIFY(shown.find(QStringLiteral("export report")));
        const QModelIndex first = shown.palette().model().index(0);
        QCOMPARE(first.data().toString(), QStringLiteral("Export report…"));
        QVERIFY(!first.data(PaletteModel::WhyNotRole).toString().isEmpty());
        QTest::keyClick(shown.palette().field(), Qt::Key_Return);
        QVERIFY(shown.palette().isVisible()); // nothing happens
        QTest::mouseClick(shown.window.statusBar(), Qt::LeftButton); // a click elsewhere
        QVERIFY(!shown.palette().isVisible());
    }

    void arrowsMoveInThePalette()
    {
        Shown shown;
        QVERIFY(shown.open());
        QVERIFY(shown.find(QStringLiteral(">open")));
        const int rows = shown.palette().model().rowCount();
        QVERIFY(rows > 3);
        const auto row = [&] { return shown.palette().list()->currentIndex().row(); };
        QCOMPARE(row(), 0);
        QTest::keyClick(shown.palette().field(), Qt::Key_Down);
        QCOMPARE(row(), 1);
        QTest::keyClick(shown.palette().field(), Qt::Key_Up);
        QTest::keyClick(shown.palette().field(), Qt::Key_Up);
        QCOMPARE(row(), rows - 1);
        QTest::keyClick(shown.palette().field(), Qt::Key_PageUp);
        QVERIFY(row() < rows - 1);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(TestPalette)
#include "test_palette.moc"
