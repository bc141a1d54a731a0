// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/data/data_actions.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QMenuBar>

#include <array>
#include <utility>
#include <vector>

namespace qs {

namespace {

constexpr int kWithKeys = 9; ///< of the recent files

/// Its entries stay the same ones, so that their keys can be chosen; those that are not used are not shown.
void fillRecent(QMenu* menu, const std::vector<QAction*>& entries, const RecentFiles& recent)
{
    const auto& files = recent.entries();
    const QStringList labels = recent.labels();
    for (size_t i = 0; i < entries.size(); ++i) {
        const bool used = i < files.size();
        entries[i]->setVisible(used);
        entries[i]->setText(used ? withoutMnemonics(labels[qsizetype(i)]) : tr("Recent files %1").arg(i + 1));
        if (used)
            setTip(*entries[i], files[i].project.isEmpty() ? toQt(files[i].inputs.floatPath) : files[i].project);
    }
    enableMenu(*menu, !files.empty(), tr("Nothing was opened before"));
}

void addRecentMenu(QMenu* file, const WindowParts& parts)
{
    QMenu* menu = file->addMenu(tr("Open &recent"));
    Session* session = &parts.session;
    RecentFiles* recent = &parts.recent;
    std::vector<QAction*> entries;
    for (int i = 0; i < RecentFiles::kKept; ++i) {
        QList<QKeySequence> keys;
        if (i < kWithKeys)
            keys << QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1));
        entries.push_back(
            addEntry(menu, QStringLiteral("file.recent.%1").arg(i + 1), {}, keys, session, [session, recent, i] {
                if (size_t(i) < recent->entries().size())
                    openRecent(*session, RecentEntry(recent->entries()[size_t(i)]));
            }));
    }
    menu->addSeparator();
    addEntry(menu, QStringLiteral("file.clearRecent"), tr("Clear list"), {}, recent, [recent] { recent->clear(); });
    fillRecent(menu, entries, *recent);
    QObject::connect(file, &QMenu::aboutToShow, recent, &RecentFiles::dropMissing);
    QObject::connect(
        recent, &RecentFiles::changed, menu, [menu, entries, recent] { fillRecent(menu, entries, *recent); });
}

/// Back to what was open before the last opening, and further.
void addFormer(QMenu* menu, Session* session)
{
    QAction* back = addEntry(menu, QStringLiteral("file.former"), {}, { QKeySequence(QStringLiteral("Ctrl+Shift+T")) },
        session, [session] { session->openFormer(); });
    QMenu* further = menu->addMenu(tr("Further back"));
    markAsList(*further);
    const auto label = [session](size_t i) { return withoutMnemonics(RecentFiles::label(session->former(i))); };
    const auto refresh = [back, further, session, label] {
        const size_t count = session->formers();
        enable(*back, count > 0, tr("Nothing else was open before"));
        back->setText(count > 0 ? tr("Bac&k to %1").arg(label(0)) : tr("Bac&k to the files before"));
        for (QAction* action : further->actions()) { // one of them may be what led here
            further->removeAction(action);
            action->deleteLater();
        }
        for (size_t i = 1; i < count; ++i)
            QObject::connect(
                further->addAction(label(i)), &QAction::triggered, session, [session, i] { session->openFormer(i); });
        enableMenu(*further, count > 1, tr("Nothing was open before that"));
    };
    QObject::connect(session, &Session::settled, back, refresh);
    refresh();
}

/// What ranges are found with.
void addCalibrationMenu(QMenu* file, const WindowParts& parts)
{
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    QMenu* menu = file->addMenu(tr("Cali&bration data"));
    addEntry(menu, QStringLiteral("file.calibrationArrays"), tr("Open &arrays…"), {}, window,
        [session, window] { askForCalibration(*session, window); });
    addEntry(menu, QStringLiteral("file.calibrationFolder"), tr("Open &folder…"), {}, window,
        [session, window] { askForCalibrationFolder(*session, window); });
    QAction* same = addEntry(menu, QStringLiteral("file.calibrateOnSame"), tr("&The data to judge by, too"), {},
        session, [session] { openCalibration(*session, {}); });
    same->setCheckable(true);
    QObject::connect(menu, &QMenu::aboutToShow, same,
        [same, session] { same->setChecked(session->wantedFiles().calibration.spec.empty()); });
    const auto refresh = [menu, session] {
        enableMenu(*menu, session->snapshot()->data != nullptr, tr("Open data to judge by first"));
    };
    QObject::connect(session, &Session::snapshotChanged, menu, refresh);
    refresh();
}

void addOpening(QMenu* menu, const WindowParts& parts)
{
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    const auto entry = [=](const char* id, const QString& text, const QKeySequence& keys, auto ask) {
        return addEntry(menu, QString::fromLatin1(id), text, keys.isEmpty() ? QList<QKeySequence>() : QList { keys },
            window, [session, window, ask] { ask(*session, window); });
    };
    entry("file.openFloat", tr("Open &float…"), QKeySequence::Open, [](Session& s, QWidget* w) { askForFloat(s, w); });
    entry("file.openQuantized", tr("Open q&uantized…"), QKeySequence(QStringLiteral("Ctrl+Shift+O")),
        [](Session& s, QWidget* w) { askForQuantized(s, w); });
    entry("file.openSecond", tr("Compare &with a second quantized…"), {},
        [](Session& s, QWidget* w) { askForOther(s, w); });
    entry("file.openData", tr("Open &data to judge by…"), QKeySequence(QStringLiteral("Ctrl+D")),
        [](Session& s, QWidget* w) { askForData(s, w); });
    entry("file.openDataFolder", tr("Open data f&older to judge by…"), QKeySequence(QStringLiteral("Ctrl+Shift+D")),
        [](Session& s, QWidget* w) { askForDataFolder(s, w); });
    addDataActions(menu, *session, window);
    addCalibrationMenu(menu, parts);
    QAction* names
        = entry("file.classNames", tr("&Class names…"), {}, [](Session& s, QWidget* w) { askForClassNames(s, w); });
    const auto refresh = [names, session] {
        enable(*names, session->snapshot()->floatModel.has_value(), tr("Open a float model first"));
    };
    QObject::connect(session, &Session::snapshotChanged, names, refresh);
    refresh();
    addRecentMenu(menu, parts);
    addFormer(menu, session);
    QAction* example = addEntry(menu, QStringLiteral("file.example"), tr("Open the &example"), {}, session,
        [session, inputs = parts.example] { openAnew(*session, inputs); });
    QAction* language = addEntry(menu, QStringLiteral("file.languageExample"), tr("Open the language model exam&ple"),
        {}, session, parts.openLanguageExample);
    for (QAction* one : { example, language })
        enable(*one, !parts.example.floatPath.empty(), tr("The examples are not installed"));
}

void addSaving(QMenu* menu, const WindowParts& parts, QMenu* exports)
{
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    addEntry(menu, QStringLiteral("file.openProject"), tr("Open &project…"), {}, window,
        [session, window] { askForProject(*session, window); });
    QAction* save
        = addEntry(menu, QStringLiteral("file.save"), tr("&Save project"), { QKeySequence(QKeySequence::Save) }, window,
            [set = parts.saveProject, window] { set(window->windowFilePath()); });
    QAction* saveAs = addEntry(menu, QStringLiteral("file.saveAs"), tr("Save project &as…"),
        { QKeySequence(QStringLiteral("Ctrl+Shift+S")) }, window, [set = parts.saveProject] { set({}); });
    menu->addSeparator();
    QAction* report = addEntry(menu, QStringLiteral("file.report"), tr("E&xport report…"),
        { QKeySequence(QStringLiteral("Ctrl+E")) }, window, [session, window] { askForReport(*session, window); });
    menu->addMenu(exports);
    const auto refresh = [save, saveAs, report, session] {
        const SnapshotPtr now = session->snapshot();
        for (QAction* action : { save, saveAs })
            enable(*action, now->floatModel.has_value(), tr("Open a float model first"));
        enable(*report, now->comparison.has_value(), tr("Nothing was compared yet"));
    };
    QObject::connect(session, &Session::snapshotChanged, menu, refresh);
    refresh();
}

void addClosing(QMenu* menu, const WindowParts& parts)
{
    QMainWindow* window = &parts.window;
    Session* session = &parts.session;
    QAction* reload = addEntry(menu, QStringLiteral("file.reload"), tr("Re&load"),
        { QKeySequence(QKeySequence::Refresh) }, window, [session] { session->reload(); });
    QAction* stop = addEntry(menu, QStringLiteral("file.cancel"), tr("Cancel the runnin&g work"),
        { QKeySequence(Qt::Key_Escape) }, window, [session] { session->jobs().cancelAll(); });
    QAction* close = addEntry(menu, QStringLiteral("file.close"), tr("Close &models"),
        { QKeySequence(QStringLiteral("Ctrl+W")) }, window, [session] { session->openInputs({}); });
    const auto refresh = [reload, close, session] {
        const bool open = session->snapshot()->floatModel || session->snapshot()->quantModel;
        for (QAction* action : { reload, close })
            enable(*action, open, tr("No model is open"));
    };
    const auto refreshStop = [stop](bool idle) { enable(*stop, !idle, tr("Nothing is running")); };
    refresh();
    refreshStop(session->jobs().idle()); // a job may have begun before the window was made
    QObject::connect(session, &Session::snapshotChanged, window, refresh);
    QObject::connect(&session->jobs(), &JobList::idleChanged, stop, refreshStop);
    menu->addSeparator();
    addEntry(menu, QStringLiteral("file.quit"), tr("&Quit"), { QKeySequence(QStringLiteral("Ctrl+Q")) }, window,
        [window] { window->close(); });
}

/// What each ONNX file that can be written is, for the recipe as it is.
QString modelName(HandOver what, const Recipe& recipe)
{
    const bool other = isAnotherModel(what, recipe);
    if (what == HandOver::Qdq)
        return other ? tr("ONNX with Q/&DQ pairs, another model…") : tr("ONNX with Q/&DQ pairs (most runtimes)…");
    if (what == HandOver::QOperator)
        return other ? tr("ONNX with Q&Operators, another model…")
                     : tr("ONNX with Q&Operators (CPU kernels on codes)…");
    switch (recipe.format) {
    case RecipeFormat::Dynamic:
        return tr("ONN&X as the recipe has it: dynamic ranges…");
    case RecipeFormat::WeightOnly:
        return tr("ONN&X as the recipe has it: weights in blocks…");
    case RecipeFormat::QOperator:
        return tr("ONN&X as the recipe has it: QOperators…");
    case RecipeFormat::Qdq:
        break;
    }
    return tr("ONN&X as the recipe has it: Q/DQ pairs…");
}

void nameModel(QAction& action, HandOver what, const Recipe& recipe)
{
    action.setText(modelName(what, recipe));
    setTip(action,
        isAnotherModel(what, recipe) ? tr("Not the model whose numbers are shown: this form has ranges of activations "
                                          "found by calibration")
                                     : QString());
}

} // namespace

QMenu* makeExportMenu(const WindowParts& parts)
{
    struct Form {
        HandOver what;
        const char* id;
        QString name;
    };
    const std::array<Form, 6> forms { {
        { HandOver::Model, "export.model", {} },
        { HandOver::Qdq, "export.qdq", {} },
        { HandOver::QOperator, "export.qoperator", {} },
        { HandOver::Script, "export.script", tr("ONNX Runtime &script…") },
        { HandOver::ExcludeList, "export.excludeList", tr("List of &nodes_to_exclude…") },
        { HandOver::RecipeJson, "export.recipe", tr("Recipe as &JSON…") },
    } };
    Session* session = &parts.session;
    RecipeView* recipe = &parts.recipe;
    QMainWindow* window = &parts.window;
    auto* menu = new QMenu(tr("Expor&t the quantized model"), window);
    menu->setToolTipsVisible(true);
    std::vector<std::pair<QAction*, HandOver>> models;
    for (const Form& form : forms) {
        QAction* entry = addEntry(menu, QString::fromLatin1(form.id), form.name, {}, window,
            [session, recipe, window, kind = form.what] { askForHandOver(*session, *recipe, kind, window); });
        if (form.name.isEmpty())
            models.emplace_back(entry, form.what);
    }
    const auto refresh = [menu, session, models] {
        for (const auto& [entry, what] : models)
            nameModel(*entry, what, session->recipe().recipe());
        enableMenu(*menu, session->recipe().editable(), tr("There is no recipe: open a float model first"));
    };
    QObject::connect(recipe, &RecipeView::changed, menu, refresh);
    refresh();
    return menu;
}

void buildFileMenu(const WindowParts& parts, QMenu* exports)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&File"));
    addOpening(menu, parts);
    menu->addSeparator();
    addSaving(menu, parts, exports);
    menu->addSeparator();
    addClosing(menu, parts);
}

} // namespace qs
