// SPDX-License-Identifier: GPL-3.0-or-later
// What is clicked is what an edit concerns, and numbers say what they are of.
#include "tests/views/support/example_window.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/noise_bar.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/detail/inspector_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/graph/view/around_bar.h"
#include "widgets/views/header/sample_chip.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/recipe/override_editor.h"
#include "widgets/views/recipe/what_if_panel.h"
#include "widgets/views/tables/saturation_panel.h"
#include "widgets/views/theme/restyling.h"
#include "widgets/views/theme/style.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QTreeView>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

using Example = ExampleWindow;

/// A node and the Relu that its quantizer takes in; empty: there is none.
std::vector<size_t> foldedUnit(const RecipeView& recipe)
{
    for (size_t n = 0; n < recipe.nodes().size(); ++n)
        if (recipe.units().of(n).size() == 2)
            return recipe.units().of(n);
    return {};
}

/// The box of a node in the quantized graph.
std::optional<uint32_t> boxOf(Example& example, const std::string& node)
{
    const NodeId id = example.session.snapshot()->quantModel->graph().findNode(node);
    const GraphScene* scene = example.window.graph().canvas().scene();
    return id.valid() && scene ? scene->graph().box(id) : std::nullopt;
}

struct PaintCount : QObject {
    explicit PaintCount(QObject& watched) { watched.installEventFilter(this); }
    bool eventFilter(QObject*, QEvent* event) override
    {
        count += event->type() == QEvent::Paint ? 1 : 0;
        return false;
    }
    int count = 0;
};

QPoint onScreen(const GraphCanvas& canvas, QPointF at)
{
    return ((at - canvas.visibleArea().topLeft()) * canvas.zoom()).toPoint();
}

} // namespace

class TestStateViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpApplication(*qApp); }

    void undoIsWholeWhereThereIsRoom()
    {
        Example e;
        e.window.resize(2400, 1000);
        QVERIFY(e.ready());
        Recipe next = e.session.recipe().recipe();
        next.perChannel = !next.perChannel;
        e.session.recipe().apply(QStringLiteral("Weights of a very long list of nodes per channel or not"), next);
        QVERIFY(e.settled());
        QPushButton* undo
            = buttonNamed(e.window, QStringLiteral("Undo Weights of a very long list of nodes per channel or not"));
        QVERIFY(undo);
        const int text = undo->fontMetrics().horizontalAdvance(undo->text());
        QTRY_VERIFY2(undo->width() >= text, qPrintable(QString::number(undo->width())));
        e.window.resize(1000, 1000);
        QTRY_VERIFY(undo->width() < text);
    }

    /// Half a number reads as another one; titles yield.
    void numbersOfWhatIfAreWhole()
    {
        Example e;
        QVERIFY(e.ready());
        Recipe next = e.session.recipe().recipe();
        next.perChannel = !next.perChannel;
        e.session.recipe().apply(QStringLiteral("per channel"), next);
        QVERIFY(e.settled());
        e.window.showView(QStringLiteral("what-if"));
        auto* panel = e.window.findChild<WhatIfPanel*>();
        for (const int width : { 1000, 1280, 1600 }) {
            e.window.resize(width, 800);
            QCoreApplication::processEvents();
            for (const QLabel* value : panel->findChildren<QLabel*>(QStringLiteral("summaryValue"))) {
                QVERIFY2(
                    value->width() >= value->fontMetrics().horizontalAdvance(value->text()), qPrintable(value->text()));
                const QPoint right = value->mapTo(panel, QPoint(value->width(), 0));
                QVERIFY(right.x() <= panel->width());
            }
        }
    }

    /// Also if it was about to be painted anyway when the theme changed.
    void anotherThemeIsPainted()
    {
        Example example;
        QVERIFY(example.ready());
        for (const ThemeChoice choice : { ThemeChoice::Dark, ThemeChoice::Light }) {
            QTRY_VERIFY(!restyling());
            example.window.update();
            example.window.setThemeChoice(choice);
            QCoreApplication::sendPostedEvents(&example.window, QEvent::UpdateRequest); // finds that updates are off
            PaintCount painted(example.window);
            QTRY_VERIFY(painted.count > 0);
        }
    }

    /// It is not drawn around boxes of the network that was open before.
    void neighbourhoodIsOfItsNetwork()
    {
        Example example;
        QVERIFY(example.ready());
        const auto* bar = example.window.graph().findChild<AroundBar*>();
        QVERIFY(example.session.selection().selectByName("/stem/relu/Relu"));
        QTRY_VERIFY((example.window.graph().setAround(Neighbourhood { 1 }), bar->isVisibleTo(&example.window.graph())));
        example.session.openInputs({});
        QTRY_VERIFY(!example.session.snapshot()->quantModel && !example.session.snapshot()->floatModel);
        example.session.openInputs(bundledExample());
        QVERIFY(example.ready());
        QTRY_VERIFY(example.window.graph().canvas().scene());
        QVERIFY(!bar->isVisibleTo(&example.window.graph()));
    }

    void aFoldedBoxIsOneUnit_data()
    {
        QTest::addColumn<int>("way");
        QTest::newRow("E in the graph") << 0;
        QTest::newRow("check box in the graph") << 1;
        QTest::newRow("E in the table") << 2;
        QTest::newRow("check box in the tree") << 3;
        QTest::newRow("check box in the inspector") << 4;
        QTest::newRow("E elsewhere") << 5;
    }

    /// Each way from the box to the recipe excludes all that the box stands for, as one step, and takes it back.
    void aFoldedBoxIsOneUnit()
    {
        QFETCH(int, way);
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        RecipeView& recipe = example.window.recipe();
        const auto unit = foldedUnit(recipe);
        QVERIFY(!unit.empty());
        GraphCanvas& canvas = example.window.graph().canvas();
        QVERIFY(QTest::qWaitFor([&] { return canvas.scene() != nullptr; }, kPatience));
        const auto box = boxOf(example, recipe.nodes()[unit[0]].name);
        QVERIFY(box);
        canvas.showBox(*box);
        example.window.showView(QStringLiteral("what-if"));
        QApplication::processEvents();
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, onScreen(canvas, canvas.scene()->box(*box).center()));
        QCOMPARE(canvas.look().selected, box);
        const Recipe before = example.session.recipe().recipe();
        const auto toggle = [&] {
            ExclusionTree& tree = example.window.findChild<WhatIfPanel*>()->nodes();
            auto* editor = example.window.findChild<OverrideEditor*>();
            switch (way) {
            case 0:
                canvas.setFocus();
                return QTest::keyClick(&canvas, Qt::Key_E);
            case 1:
                return QTest::mouseClick(
                    &canvas, Qt::LeftButton, {}, onScreen(canvas, checkRect(canvas.scene()->box(*box)).center()));
            case 2:
                example.window.tensors().table()->setFocus();
                return QTest::keyClick(example.window.tensors().table(), Qt::Key_E);
            case 3:
                tree.tree()->setCurrentIndex(tree.model().unitIndexOf(recipe.nodes()[unit[0]].name));
                return QTest::keyClick(tree.tree(), Qt::Key_Space);
            case 4:
                return editor->findChild<QCheckBox*>()->click();
            default:
                example.window.setFocus();
                return QTest::keyClick(&example.window, Qt::Key_E);
            }
        };
        example.window.showView(QStringLiteral("tensors"));
        toggle();
        QCOMPARE(example.stack().count(), 1);
        for (size_t n = 0; n < recipe.nodes().size(); ++n)
            QCOMPARE(recipe.states()[n].quantized, std::ranges::find(unit, n) == unit.end());
        QCOMPARE(example.stack().undoText(),
            QStringLiteral("Exclude %1 + %2")
                .arg(QString::fromStdString(recipe.nodes()[unit[0]].name),
                    QString::fromStdString(recipe.nodes()[unit[1]].name)));
        QCOMPARE(canvas.look().boxes[*box].quantized, std::optional(TriState::None));
        toggle();
        QVERIFY(example.session.recipe().recipe() == before);
    }

    void partsOfAUnitAreReached()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        RecipeView& recipe = example.window.recipe();
        const auto unit = foldedUnit(recipe);
        QVERIFY(!unit.empty());
        const std::string relu = recipe.nodes()[unit[1]].name;
        example.session.selection().selectByName(relu);
        auto* editor = example.window.findChild<OverrideEditor*>();
        QMenu* parts = editor->findChild<QMenu*>();
        QVERIFY(parts);
        emit parts->aboutToShow();
        QCOMPARE(parts->actions().size(), 2);
        parts->actions()[1]->trigger();
        QVERIFY(recipe.states()[unit[0]].quantized);
        QVERIFY(!recipe.states()[unit[1]].quantized);
        const auto box = boxOf(example, recipe.nodes()[unit[0]].name);
        GraphCanvas& canvas = example.window.graph().canvas();
        QVERIFY(box);
        QCOMPARE(canvas.look().boxes[*box].quantized, std::optional(TriState::Some));
        QVERIFY(canvas.look().boxes[*box].note.contains(QString::fromStdString(relu)));
        example.session.run();
        QVERIFY(example.settled());
        QCOMPARE(recipe.units().of(unit[0]).size(), size_t(1)); // two boxes now, each its own unit
    }

    /// Also after the window was styled again.
    void dimmedPlotsKeepTheTheme()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        example.window.setThemeChoice(ThemeChoice::Dark);
        QTRY_VERIFY(!restyling());
        example.window.recipe().toggle(0);
        const auto plots = example.window.findChildren<LineChart*>();
        QVERIFY(!plots.empty() && plots[0]->dimmed());
        const QImage picture = plots[0]->grab().toImage();
        const QColor middle = picture.scaled(1, 1, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).pixelColor(0, 0);
        QVERIFY2(middle.lightness() < 80, qPrintable(middle.name()));
    }

    void staleNumbersAreDimmed()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        GraphCanvas& canvas = example.window.graph().canvas();
        QVERIFY(QTest::qWaitFor([&] { return canvas.scene() != nullptr; }, kPatience));
        const ActivationRow* chosen = example.session.selectedActivation();
        QVERIFY(chosen); // suggested, nobody clicked
        const std::string name = chosen->name;
        const auto plots = example.window.findChildren<LineChart*>();
        QVERIFY(!plots.empty() && !plots[0]->dimmed() && !canvas.look().stale);
        auto* summary = example.window.findChild<FindingCard*>()->findChild<QLabel*>(QStringLiteral("findingText"));
        QTableView& values = *example.window.findChild<InspectorPanel*>()->findChild<QTableView*>();
        QVERIFY(summary && summary->isEnabled());
        const auto* noise = example.window.findChild<DistributionPanel*>()->findChild<NoiseBar*>();
        QVERIFY(noise && !noise->stale());
        const auto column = [&values] { // the values, beside their names
            const int left = values.columnViewportPosition(1);
            return values.viewport()->grab().toImage().copy(
                left, 0, values.columnWidth(1), values.viewport()->height());
        };
        const QImage before = column();
        example.window.recipe().toggle(*example.window.recipe().find(
            std::ranges::find(example.window.recipe().nodes(), "Conv", &RecipeNode::opType)->name));
        QVERIFY(example.session.numbers().stale());
        QVERIFY(plots[0]->dimmed() && canvas.look().stale);
        QVERIFY(!summary->isEnabled());
        QVERIFY(noise->stale());
        QVERIFY(column() != before);
        const auto* chip = example.window.findChild<QLabel*>(QStringLiteral("changesChip"));
        QVERIFY(chip->isVisible() && chip->text().contains(QStringLiteral("not run")));
        QVERIFY(chip->text().contains(QStringLiteral("Numbers of")));
        QCOMPARE(example.session.selectedActivation()->name, name);
        QPushButton* run = buttonNamed(example.window, QStringLiteral("Run the recipe"));
        QVERIFY(run);
        run->click();
        QVERIFY(example.settled());
        QVERIFY(!example.session.numbers().stale());
        QVERIFY(!plots[0]->dimmed() && !canvas.look().stale);
        QVERIFY(!noise->stale());
        QVERIFY(!chip->isVisible());
        QVERIFY(example.session.selectedActivation());
        QCOMPARE(example.session.selectedActivation()->name, name); // also where another one is the worst now
    }

    void oneSampleIsAnnounced()
    {
        Example example;
        QVERIFY(example.ready());
        GraphCanvas& canvas = example.window.graph().canvas();
        QVERIFY(QTest::qWaitFor([&] { return canvas.scene() != nullptr; }, kPatience));
        auto* legend = example.window.graph().findChild<GraphLegend*>();
        auto* chip = legend->findChild<QPushButton*>(QStringLiteral("sampleChip"));
        QVERIFY(chip && !chip->isVisible());
        for (const bool byKey : { false, true }) {
            example.session.selection().selectSample(3);
            QVERIFY(chip->isVisible() && legend->rect().contains(chip->geometry()));
            size_t told = 0;
            for (const SampleChip* other : example.window.findChildren<SampleChip*>())
                told += !other->isHidden();
            QVERIFY(told >= 2);
            const auto* inspector = example.window.findChild<InspectorPanel*>()->header()->findChild<SampleChip*>();
            QVERIFY(inspector && !inspector->isHidden());
            QVERIFY(inspector->text().startsWith(QStringLiteral("all samples")));
            if (byKey)
                QTest::keyClick(&canvas, Qt::Key_Escape);
            else
                QTest::mouseClick(chip, Qt::LeftButton);
            QVERIFY2(!example.session.selection().current().sample, byKey ? "Esc" : "click");
            QVERIFY2(!example.session.selection().current().sample, byKey ? "Esc" : "click");
            QVERIFY(!chip->isVisible());
        }
    }

    /// In the colour of the accent, around what has the focus.
    void focusIsSeen()
    {
        Example example;
        QVERIFY(example.ready());
        example.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&example.window));
        PanelHeader& header = *example.window.graph().header();
        const QRgb accent = example.session.theme().accent.rgb();
        const auto accented = [accent](QWidget& widget) {
            const QImage image = widget.grab().toImage().convertToFormat(QImage::Format_RGB32);
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    count += image.pixel(x, y) == accent;
            return count;
        };
        QList<QWidget*> widgets;
        for (QWidget* widget : header.findChildren<QWidget*>()) {
            const bool shows = qobject_cast<QComboBox*>(widget) || qobject_cast<QCheckBox*>(widget)
                || (qobject_cast<QPushButton*>(widget) && widget->property("chip").toBool());
            if (shows && widget->isVisible())
                widgets << widget;
        }
        QVERIFY(widgets.size() >= 4);
        for (QWidget* widget : widgets) {
            example.window.graph().canvas().setFocus();
            const int before = accented(*widget);
            widget->setFocus(Qt::TabFocusReason);
            QVERIFY(widget->hasFocus());
            QVERIFY2(accented(*widget) > before + 2 * widget->height(), widget->metaObject()->className());
        }
    }

    void patternsSayWhatTheyMatch()
    {
        Example example;
        QVERIFY(example.ready());
        example.window.showView(QStringLiteral("what-if"));
        ExclusionTree& tree = example.window.findChild<WhatIfPanel*>()->nodes();
        QVERIFY(!tree.matchText().isVisible());
        QTest::keyClicks(tree.pattern(), QStringLiteral("no-such"));
        QCOMPARE(tree.matchText().text(), QStringLiteral("no node matches"));
        tree.pattern()->clear();
        QTest::keyClicks(tree.pattern(), QStringLiteral("*"));
        const QString all = QString::number(tree.model().nodes().size());
        QCOMPARE(tree.matchText().text(),
            QStringLiteral("matches %1 nodes, %2 of them quantized").arg(all).arg(tree.model().quantizedCount()));
        QVERIFY(tree.matchText().isVisible());
    }

    /// Below the text, which gives way, however low the panel is.
    void theButtonOfAnEmptyTableKeepsItsHeight()
    {
        Example example;
        QVERIFY(example.ready());
        SaturationPanel panel(example.session);
        panel.show();
        const QPushButton* button = nullptr;
        for (const QPushButton* one : panel.findChildren<QPushButton*>())
            if (one->text() == QStringLiteral("Switch to integer-avx2"))
                button = one;
        QVERIFY(button);
        for (const int height : { 400, 220, 180, 140, 100 }) {
            panel.resize(420, height);
            QTRY_VERIFY2(button->isVisible()
                    && button->height() >= std::min(button->sizeHint().height(), button->parentWidget()->height()),
                qPrintable(QStringLiteral("%1: %2").arg(height).arg(button->height())));
        }
    }

    void entropySaysThatItHasNothingToSearch()
    {
        Example example;
        QVERIFY(example.ready());
        example.session.setAutoRun(false);
        example.window.showView(QStringLiteral("what-if"));
        auto* hint = example.window.findChild<QPushButton*>(QStringLiteral("entropyHint"));
        QVERIFY(hint && hint->isHidden());
        Recipe entropy = example.session.recipe().recipe();
        entropy.calibration = {};
        entropy.calibration.kind = Calibrator::Entropy;
        example.session.recipe().apply(QStringLiteral("entropy"), entropy);
        QVERIFY(!hint->isHidden());
        QTRY_VERIFY(hint->fontMetrics().horizontalAdvance(hint->text()) <= hint->width()); // not cut
        hint->click();
        QCOMPARE(example.session.recipe().recipe().calibration.bins, std::optional<size_t>(2048));
        QVERIFY(hint->isHidden());
    }
};

QTEST_MAIN(TestStateViews)
#include "test_state_views.moc"
