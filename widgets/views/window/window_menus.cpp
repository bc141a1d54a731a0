// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/window_menus.h"

#include "core/layout/folded_graph.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/data/data_actions.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/help/tour.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/help_texts.h"
#include "widgets/views/window/named_layouts.h"
#include "widgets/views/window/start_page.h"

#include <QActionGroup>
#include <QApplication>
#include <QMenu>
#include <QMenuBar>
#include <QUndoStack>

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int kHistoryLength = 20; ///< steps before and after the present one

template <class Context, class Function>
QAction* add(QMenu* menu, const QString& text, const QKeySequence& shortcut, Context* context, Function function)
{
    QAction* action = menu->addAction(text);
    action->setShortcut(shortcut);
    QObject::connect(action, &QAction::triggered, context, std::move(function));
    return action;
}

void fillRecent(QMenu* menu, const WindowParts& parts)
{
    menu->clear();
    int number = 0;
    for (const RecentEntry& entry : parts.recent.entries()) {
        Session* session = &parts.session;
        ++number;
        QAction* action = add(menu, RecentFiles::label(entry),
            number <= 9 ? QKeySequence(QStringLiteral("Ctrl+%1").arg(number)) : QKeySequence(), session,
            [session, entry] { openRecent(*session, entry); });
        action->setToolTip(entry.project.isEmpty() ? toQt(entry.inputs.floatPath) : entry.project);
    }
    menu->setEnabled(number > 0);
    if (number == 0)
        return;
    menu->addSeparator();
    RecentFiles* recent = &parts.recent;
    add(menu, tr("Clear list"), {}, recent, [recent] { recent->clear(); });
}

QString formerLabel(const Session& session, size_t i)
{
    return RecentFiles::label(session.former(i)).replace(u'&', QStringLiteral("&&"));
}

/// Back to what was open before the last opening, and further.
void addFormer(QMenu* menu, Session* session)
{
    QAction* back
        = add(menu, {}, QKeySequence(QStringLiteral("Ctrl+Shift+T")), session, [session] { session->openFormer(); });
    QMenu* further = menu->addMenu(tr("Further back"));
    const auto refresh = [back, further, session] {
        const size_t count = session->formers();
        back->setEnabled(count > 0);
        back->setText(count > 0 ? tr("Bac&k to %1").arg(formerLabel(*session, 0)) : tr("Bac&k to the files before"));
        for (QAction* action : further->actions()) { // one of them may be what led here
            further->removeAction(action);
            action->deleteLater();
        }
        further->setEnabled(count > 1);
        for (size_t i = 1; i < count; ++i)
            add(further, formerLabel(*session, i), {}, session, [session, i] { session->openFormer(i); });
    };
    QObject::connect(session, &Session::settled, back, refresh);
    refresh();
}

/// What others can go on with: the model as the recipe quantizes it, and the recipe in other words.
QMenu* makeExportMenu(const WindowParts& parts)
{
    const std::array<std::pair<HandOver, QString>, 5> names { {
        { HandOver::Qdq, tr("ONNX with Q/&DQ pairs (most runtimes)…") },
        { HandOver::QOperator, tr("ONNX with Q&Operators (CPU kernels on codes)…") },
        { HandOver::Script, tr("ONNX Runtime &script…") },
        { HandOver::ExcludeList, tr("List of &nodes_to_exclude…") },
        { HandOver::RecipeJson, tr("Recipe as &JSON…") },
    } };
    Session* session = &parts.session;
    RecipeView* recipe = &parts.recipe;
    QMainWindow* window = &parts.window;
    auto* menu = new QMenu(tr("Expor&t the quantized model"), window);
    for (const auto& [what, name] : names)
        add(menu, name, {}, window,
            [session, recipe, window, kind = what] { askForHandOver(*session, *recipe, kind, window); });
    const auto enable = [menu, session] { menu->setEnabled(session->recipe().editable()); };
    QObject::connect(recipe, &RecipeView::changed, menu, enable);
    enable();
    return menu;
}

/// What ranges are found with.
QMenu* makeCalibrationMenu(const WindowParts& parts)
{
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    auto* menu = new QMenu(tr("Cali&bration data"), window);
    add(menu, tr("Open &arrays…"), {}, window, [session, window] { askForCalibration(*session, window); });
    add(menu, tr("Open &folder…"), {}, window, [session, window] { askForCalibrationFolder(*session, window); });
    QAction* same
        = add(menu, tr("&The data to judge by, too"), {}, session, [session] { openCalibration(*session, {}); });
    same->setCheckable(true);
    QObject::connect(menu, &QMenu::aboutToShow, same,
        [same, session] { same->setChecked(session->wantedFiles().calibration.spec.empty()); });
    return menu;
}

void buildFileMenu(const WindowParts& parts, QMenu* exports)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&File"));
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    add(menu, tr("Open &float…"), QKeySequence::Open, window, [session, window] { askForFloat(*session, window); });
    add(menu, tr("Open &quantized…"), QKeySequence(QStringLiteral("Ctrl+Shift+O")), window,
        [session, window] { askForQuantized(*session, window); });
    add(menu, tr("Compare with a &second quantized…"), {}, window,
        [session, window] { askForOther(*session, window); });
    add(menu, tr("Open &data to judge by…"), QKeySequence(QStringLiteral("Ctrl+D")), window,
        [session, window] { askForData(*session, window); });
    add(menu, tr("Open data f&older to judge by…"), QKeySequence(QStringLiteral("Ctrl+Shift+D")), window,
        [session, window] { askForDataFolder(*session, window); });
    addDataActions(menu, *session, window);
    QMenu* calibration = makeCalibrationMenu(parts);
    menu->addMenu(calibration);
    QAction* names
        = add(menu, tr("Class &names…"), {}, window, [session, window] { askForClassNames(*session, window); });
    QMenu* recent = menu->addMenu(tr("Open &recent"));
    fillRecent(recent, parts);
    QObject::connect(menu, &QMenu::aboutToShow, &parts.recent, &RecentFiles::dropMissing);
    QObject::connect(&parts.recent, &RecentFiles::changed, recent, [recent, parts] { fillRecent(recent, parts); });
    addFormer(menu, session);
    QAction* example
        = add(menu, tr("Open the &example"), {}, window, [session] { session->openInputs(exampleInputs()); });
    example->setEnabled(!exampleInputs().floatPath.empty());
    menu->addSeparator();
    add(menu, tr("Open &project…"), {}, window, [session, window] { askForProject(*session, window); });
    QAction* save = add(menu, tr("&Save project"), QKeySequence(QKeySequence::Save), window,
        [set = parts.saveProject, window] { set(window->windowFilePath()); });
    QAction* saveAs = add(menu, tr("Save project &as…"), QKeySequence(QStringLiteral("Ctrl+Shift+S")), window,
        [set = parts.saveProject] { set({}); });
    menu->addSeparator();
    QAction* report = add(menu, tr("E&xport report…"), QKeySequence(QStringLiteral("Ctrl+E")), window,
        [session, window] { askForReport(*session, window); });
    menu->addMenu(exports);
    menu->addSeparator();
    QAction* reload
        = add(menu, tr("Re&load"), QKeySequence(QKeySequence::Refresh), window, [session] { session->reload(); });
    QAction* stop = add(menu, tr("&Cancel the running work"), QKeySequence(Qt::Key_Escape), window,
        [session] { session->jobs().cancelAll(); });
    QAction* close = add(menu, tr("Close &models"), QKeySequence(QStringLiteral("Ctrl+W")), window,
        [session] { session->openInputs({}); });
    const auto enable = [reload, close, report, save, saveAs, names, calibration](const SnapshotPtr& now) {
        save->setEnabled(now->floatModel.has_value());
        saveAs->setEnabled(now->floatModel.has_value());
        report->setEnabled(now->comparison.has_value());
        const bool open = now->floatModel || now->quantModel;
        reload->setEnabled(open);
        names->setEnabled(now->floatModel.has_value());
        calibration->setEnabled(now->data != nullptr);
        close->setEnabled(open);
    };
    enable(session->snapshot());
    stop->setEnabled(!session->jobs().idle()); // a job may have begun before the window was made
    QObject::connect(session, &Session::snapshotChanged, window, enable);
    QObject::connect(&session->jobs(), &JobList::idleChanged, stop, [stop](bool idle) { stop->setEnabled(!idle); });
    menu->addSeparator();
    add(menu, tr("&Quit"), QKeySequence(QStringLiteral("Ctrl+Q")), window, [window] { window->close(); });
}

/// The steps so far; a click goes back or forward to one.
void fillHistory(QMenu* menu, QUndoStack& stack)
{
    menu->clear();
    const int first = std::max(0, stack.index() - kHistoryLength),
              last = std::min(stack.count(), first + 2 * kHistoryLength);
    for (int i = first; i <= last; ++i) {
        QAction* action = menu->addAction(i == 0 ? tr("as opened") : stack.text(i - 1));
        action->setCheckable(true);
        action->setChecked(i == stack.index());
        QObject::connect(action, &QAction::triggered, &stack, [&stack, i] { stack.setIndex(i); });
    }
}

void addUndo(QMenu* menu, QUndoStack& stack)
{
    QAction* undo = stack.createUndoAction(menu, tr("&Undo"));
    QAction* redo = stack.createRedoAction(menu, tr("&Redo"));
    undo->setShortcut(QKeySequence::Undo);
    redo->setShortcuts({ QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y")) });
    menu->addActions({ undo, redo });
    QMenu* history = menu->addMenu(tr("&History"));
    QObject::connect(history, &QMenu::aboutToShow, history, [history, &stack] { fillHistory(history, stack); });
    menu->addSeparator();
}

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
        QAction* action = choices->addAction(arithmeticText(profile));
        action->setCheckable(true);
        inner->addAction(action);
        QObject::connect(
            action, &QAction::triggered, session, [session, profile] { setArithmetic(*session, profile); });
        QObject::connect(inner, &QMenu::aboutToShow, action,
            [action, session, profile] { action->setChecked(session->wantedFiles().profile == profile); });
    }
}

void buildRecipeMenu(const WindowParts& parts, QMenu* exports)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Recipe"));
    Session* session = &parts.session;
    RecipeView* recipe = &parts.recipe;
    QAction* run = add(menu, tr("&Run"), {}, session, &Session::run);
    run->setShortcuts({ QKeySequence(QStringLiteral("Ctrl+Return")), QKeySequence(QStringLiteral("Ctrl+Enter")),
        QKeySequence(Qt::Key_R) });
    QAction* byItself = add(menu, tr("Run &by itself when quick"), {}, session, [] {});
    byItself->setCheckable(true);
    byItself->setChecked(session->autoRun());
    QObject::connect(byItself, &QAction::toggled, session, &Session::setAutoRun);
    QObject::connect(session, &Session::autoRunChanged, byItself, &QAction::setChecked);
    QAction* tries = add(menu, tr("&Measure remedies in the background"), {}, session, [] {});
    tries->setCheckable(true);
    tries->setChecked(session->autoTry());
    QObject::connect(tries, &QAction::toggled, session, &Session::setAutoTry);
    QObject::connect(session, &Session::autoTryChanged, tries, &QAction::setChecked);
    menu->addSeparator();
    QAction* toggle = add(menu, tr("Quantize or &exclude the selection"), QKeySequence(Qt::Key_E), recipe,
        [recipe, session] { toggleFocused(*recipe, *session); });
    const auto nameToggle = [toggle, recipe, session] {
        const std::vector<size_t> members = recipe->membersOf(session->selection().current());
        toggle->setText(members.empty() ? tr("Quantize or &exclude the selection") : recipe->toggleText(members));
    };
    QObject::connect(&session->selection(), &Selection::changed, toggle, nameToggle);
    QObject::connect(recipe, &RecipeView::changed, toggle, nameToggle);
    QAction* reset = add(menu, tr("Rese&t all settings"), {}, session,
        [session] { session->recipe().apply(tr("Reset all settings"), Recipe(session->recipe().base())); });
    menu->addSeparator();
    addArithmetic(menu, session);
    addModelActions(menu, *session, &parts.window);
    QAction* open = add(menu, tr("&Open recipe…"), {}, &parts.window,
        [session, window = &parts.window] { askForRecipe(*session, window); });
    menu->addMenu(exports);
    const auto enable = [=] {
        const bool editable = session->recipe().editable();
        run->setEnabled(session->needsRun());
        for (QAction* action : { toggle, reset, open })
            action->setEnabled(editable);
    };
    QObject::connect(recipe, &RecipeView::changed, menu, enable);
    QObject::connect(session, &Session::needsRunChanged, menu, enable);
    enable();
}

void buildEditMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Edit"));
    addUndo(menu, parts.session.recipe().stack());
    TablePanel* tensors = &parts.tensors;
    GraphPanel* graph = &parts.graph;
    HeaderStrip* strip = &parts.strip;
    DockLayout* layout = &parts.layout;
    add(menu, tr("Copy tensors as &TSV"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), tensors,
        [tensors] { tensors->copyRows(TableFormat::Tsv); });
    add(menu, tr("Copy tensors as &Markdown"), QKeySequence(QStringLiteral("Ctrl+Alt+C")), tensors,
        [tensors] { tensors->copyRows(TableFormat::Markdown); });
    menu->addSeparator();
    QMenu* matching = menu->addMenu(tr("&Pairs of tensors"));
    matching->addActions({ parts.matching.linkAction(), parts.matching.unlinkAction() });
    menu->addSeparator();
    add(menu, tr("&Find in the graph"), QKeySequence(QKeySequence::Find), graph, [graph] { graph->openSearch(); });
    add(menu, tr("Fi&lter tensors"), QKeySequence(QStringLiteral("Ctrl+L")), tensors, [tensors, layout] {
        layout->raise(tensors->objectName());
        tensors->focusFilter();
    });
    QAction* go = add(menu, tr("&Go to node or tensor"), {}, strip, [strip] { strip->focusSearch(); });
    go->setShortcuts({ QKeySequence(QStringLiteral("Ctrl+Shift+P")), QKeySequence(QStringLiteral("Ctrl+G")) });
}

/// To the next sample of the data, or back.
void stepSample(Session& session, int step)
{
    const auto& data = session.snapshot()->data;
    if (!data || data->samples() == 0)
        return;
    const auto last = int64_t(data->samples()) - 1;
    const auto now = session.selection().current().sample;
    const int64_t to = now ? int64_t(*now) + step : step > 0 ? 0 : last;
    session.selection().selectSample(size_t(std::clamp<int64_t>(to, 0, last)));
}

void addSampleSteps(QMenu* menu, Session* session)
{
    add(menu, tr("Ne&xt sample"), QKeySequence(QStringLiteral("Ctrl+]")), session,
        [session] { stepSample(*session, 1); });
    add(menu, tr("&Previous sample"), QKeySequence(QStringLiteral("Ctrl+[")), session,
        [session] { stepSample(*session, -1); });
    add(menu, tr("&All samples"), QKeySequence(QStringLiteral("Ctrl+\\")), session,
        [session] { session->selection().selectSample(std::nullopt); });
}

void buildGoMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Go"));
    Selection* selection = &parts.session.selection();
    TablePanel* tensors = &parts.tensors;
    QAction* back = add(menu, tr("&Back"), QKeySequence(QStringLiteral("Alt+Left")), selection, &Selection::goBack);
    QAction* forward
        = add(menu, tr("&Forward"), QKeySequence(QStringLiteral("Alt+Right")), selection, &Selection::goForward);
    const auto refresh = [back, forward, selection] {
        back->setEnabled(selection->canGoBack());
        forward->setEnabled(selection->canGoForward());
    };
    QObject::connect(selection, &Selection::historyChanged, menu, refresh);
    refresh();
    menu->addSeparator();
    add(menu, tr("&Worse tensor"), QKeySequence(Qt::Key_BracketLeft), tensors, [tensors] { tensors->walk(-1); });
    add(menu, tr("&Next tensor of the worst list"), QKeySequence(Qt::Key_BracketRight), tensors,
        [tensors] { tensors->walk(1); });
    menu->addSeparator();
    addSampleSteps(menu, &parts.session);
    menu->addSeparator();
    add(menu, tr("&Nothing selected"), QKeySequence(QStringLiteral("Ctrl+Shift+A")), selection, &Selection::clear);
}

void buildViewMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&View"));
    GraphPanel* graph = &parts.graph;
    Session* session = &parts.session;
    add(menu, tr("&Fit the graph"), QKeySequence(QStringLiteral("Ctrl+0")), graph, [graph] { graph->canvas().fit(); });
    add(menu, tr("Show the &selection"), QKeySequence(QStringLiteral("Ctrl+J")), graph,
        [graph] { graph->canvas().focusSelection(); });
    add(menu, tr("Fold or show &Q/DQ nodes"), QKeySequence(QStringLiteral("Ctrl+R")), graph,
        [graph] { graph->setMode(graph->mode() == FoldMode::Folded ? FoldMode::Raw : FoldMode::Folded); });
    add(menu, tr("Open all &groups of the graph"), {}, graph, [graph] { graph->setAllClosed(false); });
    add(menu, tr("C&lose all groups of the graph"), {}, graph, [graph] { graph->setAllClosed(true); });
    menu->addSeparator();
    QMenu* colours = menu->addMenu(tr("&Colour and sort by"));
    auto* metrics = new QActionGroup(colours);
    for (const Metric metric : kMetrics) {
        QAction* action = metrics->addAction(metricInfo(metric).title);
        action->setCheckable(true);
        action->setChecked(metric == session->metric());
        action->setToolTip(metricInfo(metric).definition);
        colours->addAction(action);
        QObject::connect(action, &QAction::triggered, session, [session, metric] { session->setMetric(metric); });
        QObject::connect(colours, &QMenu::aboutToShow, action, [action, session, metric] {
            action->setEnabled(metric != Metric::OtherGain || session->snapshot()->other);
        });
        QObject::connect(session, &Session::metricChanged, action,
            [action, metric](Metric now) { action->setChecked(now == metric); });
    }
    QMenu* themes = menu->addMenu(tr("&Theme"));
    auto* choices = new QActionGroup(themes);
    const std::array<std::pair<ThemeChoice, QString>, 3> names { { { ThemeChoice::System, tr("As the &system") },
        { ThemeChoice::Light, tr("&Light") }, { ThemeChoice::Dark, tr("&Dark") } } };
    for (const auto& [choice, name] : names) {
        QAction* action = choices->addAction(name);
        action->setCheckable(true);
        action->setChecked(parts.theme() == choice);
        themes->addAction(action);
        QObject::connect(action, &QAction::triggered, themes, [set = parts.setTheme, chosen = choice] { set(chosen); });
    }
    menu->addSeparator();
    menu->addActions(parts.layout.toggleActions());
}

void buildLayoutMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Layout"));
    parts.layouts.fill(*menu);
}

void buildHelpMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Help"));
    QMainWindow* window = &parts.window;
    add(menu, tr("&Help on this"), QKeySequence(QKeySequence::HelpContents), window,
        [window] { showHelp(window, helpOfFocus()); });
    Tour* tour = &parts.tour;
    Session* session = &parts.session;
    add(menu, tr("&Tour"), {}, tour, [tour, session] {
        if (!session->snapshot()->floatModel)
            session->openInputs(exampleInputs());
        tour->start();
    });
    menu->addSeparator();
    const std::pair<QString, const char*> pages[] { { tr("&First steps"), "start" }, { tr("F&iles"), "files" },
        { tr("&Data"), "data" }, { tr("&Views"), "views" }, { tr("What the &numbers mean"), "numbers" } };
    for (const auto& [title, page] : pages)
        add(menu, title, {}, window, [window, name = QString::fromLatin1(page)] { showHelp(window, { name, {} }); });
    add(menu, tr("&Keyboard shortcuts"), QKeySequence(QStringLiteral("Ctrl+?")), window, [window] {
        showHelp(window, { QStringLiteral("shortcuts"), {} });
    });
    menu->addSeparator();
    add(menu, tr("&About Quantscope"), {}, window, [window] { showAbout(window); });
}

} // namespace

void buildMenus(const WindowParts& parts)
{
    QMenu* exports = makeExportMenu(parts);
    buildFileMenu(parts, exports);
    buildEditMenu(parts);
    buildRecipeMenu(parts, exports);
    buildGoMenu(parts);
    buildViewMenu(parts);
    buildLayoutMenu(parts);
    buildHelpMenu(parts);
}

} // namespace qs
