// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/translated.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/base/text/elided_name.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/data/data_actions.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QActionGroup>
#include <QApplication>
#include <QMenuBar>

namespace qs {

namespace {

constexpr int kMostMenuName = 150; ///< font units

/// The rows, or the branch of the tree, that have the focus; else what is selected.
void toggleFocused(RecipeView& recipe, Session& session)
{
    for (QWidget* widget = QApplication::focusWidget(); widget; widget = widget->parentWidget()) {
        if (auto* table = qobject_cast<TablePanel*>(widget); table && table->toggleNodes())
            return;
        if (auto* tree = qobject_cast<ExclusionTree*>(widget))
            return tree->toggleCurrent();
        if (auto* graph = qobject_cast<GraphPanel*>(widget); graph && graph->toggleSelected())
            return;
    }
    recipe.toggle(session.selection().current());
}

QString arithmeticText(ArithmeticProfile profile)
{
    const QString meaning = profile == ArithmeticProfile::Simulated ? tr("floats between the codes, as the file says")
        : profile == ArithmeticProfile::Integer                     ? tr("codes throughout, as runtimes fuse them")
                                                                    : tr("the same on CPUs whose 16-bit sums saturate");
    return toQt(profileName(profile)) + QStringLiteral(" – ") + meaning;
}

/// How a runtime computes: what the quantized model is run with.
void addArithmetic(QMenu* menu, Session* session)
{
    QMenu* inner = menu->addMenu(tr("&Arithmetic"));
    auto* choices = new QActionGroup(inner);
    for (const ArithmeticProfile profile :
        { ArithmeticProfile::Simulated, ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        QAction* action = addEntry(inner, QStringLiteral("arithmetic.") + toQt(profileName(profile)),
            arithmeticText(profile), {}, session, [session, profile] { setArithmetic(*session, profile); });
        action->setCheckable(true);
        choices->addAction(action);
        const auto refresh
            = [action, session, profile] { action->setChecked(session->wantedFiles().profile == profile); };
        refresh();
        QObject::connect(inner, &QMenu::aboutToShow, action, refresh);
        QObject::connect(session, &Session::snapshotChanged, action, refresh);
    }
}

/// Takes another run of each unit and sample, so it is not done unasked.
void addNodeAlone(QMenu* menu, Session* session)
{
    QAction* action = addEntry(menu, QStringLiteral("recipe.nodeAlone"), tr("Measure each &node alone"), {}, session,
        [session] { setNodeAlone(*session, !session->wantedFiles().nodeAlone); });
    action->setCheckable(true);
    action->setToolTip(metricInfo(Metric::NodeAlone).definition);
    const auto refresh = [action, session] {
        const Inputs wanted = session->wantedFiles();
        action->setChecked(wanted.nodeAlone);
        enable(*action, session->snapshot()->floatModel && session->snapshot()->quantModel && session->snapshot()->data,
            tr("Open both models and data first"));
    };
    refresh();
    QObject::connect(menu, &QMenu::aboutToShow, action, refresh);
    QObject::connect(session, &Session::snapshotChanged, action, refresh);
}

void addSwitch(QMenu* menu, const char* id, const QString& text, Session* session, bool on, void (Session::*set)(bool),
    void (Session::*changed)(bool))
{
    QAction* action = addEntry(menu, QString::fromLatin1(id), text, {}, session, [] {});
    action->setCheckable(true);
    action->setChecked(on);
    QObject::connect(action, &QAction::toggled, session, set);
    QObject::connect(session, changed, action, &QAction::setChecked);
}

void addRun(QMenu* menu, Session* session)
{
    QAction* run = addEntry(menu, QStringLiteral("recipe.run"), tr("&Run"),
        { QKeySequence(QStringLiteral("Ctrl+Return")), QKeySequence(QStringLiteral("Ctrl+Enter")),
            QKeySequence(Qt::Key_R) },
        session, [session] { session->run(); });
    const auto refresh = [run, session] {
        enable(*run, session->needsRun(),
            session->recipe().editable() ? tr("The numbers are of the recipe as it is")
                                         : tr("There is no recipe to run"));
    };
    QObject::connect(session, &Session::needsRunChanged, run, refresh);
    QObject::connect(&session->recipe(), &RecipeEdits::recipeChanged, run, refresh);
    refresh();
    addSwitch(menu, "recipe.runByItself", tr("Run &by itself when quick"), session, session->autoRun(),
        &Session::setAutoRun, &Session::autoRunChanged);
    addSwitch(menu, "recipe.tryRemedies", tr("&Measure remedies in the background"), session, session->autoTry(),
        &Session::setAutoTry, &Session::autoTryChanged);
}

} // namespace

void buildRecipeMenu(const WindowParts& parts, QMenu* exports)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Recipe"));
    Session* session = &parts.session;
    RecipeView* recipe = &parts.recipe;
    addRun(menu, session);
    menu->addSeparator();
    QAction* toggle = addEntry(menu, QStringLiteral("recipe.toggle"), tr("Quantize or &exclude the selection"),
        { QKeySequence(Qt::Key_E) }, recipe, [recipe, session] { toggleFocused(*recipe, *session); });
    menu->setToolTipsVisible(true);
    const auto nameToggle = [toggle, recipe, session, menu] {
        const std::vector<size_t> members = recipe->membersOf(session->selection().current());
        const QString whole = recipe->toggleText(members);
        const QFontMetrics font = menu->fontMetrics();
        toggle->setText(members.empty()
                ? tr("Quantize or &exclude the selection")
                : withoutMnemonics(withNarrowNames(whole, font, fontUnits(font, kMostMenuName))));
        setTip(*toggle, members.empty() ? QString() : whole);
    };
    QObject::connect(&session->selection(), &Selection::changed, toggle, nameToggle);
    QObject::connect(recipe, &RecipeView::changed, toggle, nameToggle);
    QAction* reset = addEntry(menu, QStringLiteral("recipe.reset"), tr("Rese&t all settings"), {}, session,
        [session] { session->recipe().apply(tr("Reset all settings"), Recipe(session->recipe().base())); });
    menu->addSeparator();
    addArithmetic(menu, session);
    addNodeAlone(menu, session);
    addModelActions(menu, *session, &parts.window);
    QAction* open = addEntry(menu, QStringLiteral("recipe.open"), tr("&Open recipe…"), {}, &parts.window,
        [session, window = &parts.window] { askForRecipe(*session, window); });
    menu->addMenu(exports);
    const auto refresh = [toggle, reset, open, session] {
        for (QAction* action : { toggle, reset, open })
            enable(*action, session->recipe().editable(), tr("There is no recipe: open a float model first"));
    };
    QObject::connect(recipe, &RecipeView::changed, menu, refresh);
    refresh();
}

} // namespace qs
