// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/main_window.h"

#include "core/base/files/opened_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/agent/agent_serving.h"
#include "widgets/session/details/shown_checks.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/open_work.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/recipe/advisor.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/plain_return.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/base/progress_strip.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/data/data_actions.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/graph/outline/graph_accessibility.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/header/other_chip.h"
#include "widgets/views/header/state_notes.h"
#include "widgets/views/help/tour.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/drop_hint.h"
#include "widgets/views/window/named_layouts.h"
#include "widgets/views/window/panel_cycle.h"
#include "widgets/views/window/recovery_bar.h"
#include "widgets/views/window/start_page.h"
#include "widgets/views/window/unsaved_question.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include <utility>

namespace qs {

namespace {

/// In a project, between the layout of the panels and what the graph shows.
constexpr QLatin1Char kLayoutBorder(';');

/// What reads the graph to people is there first: a name has an interface made at once.
GraphPanel* makeGraph(Session& session, RecipeView& recipe, QWidget* parent)
{
    installGraphAccessibility();
    return new GraphPanel(session, recipe, GraphPanel::Pane::First, parent);
}

} // namespace

MainWindow::MainWindow(Session& session, std::optional<ThemeChoice> theme, WindowMemory memory, QWidget* parent)
    : QMainWindow(parent)
    , m_session(session)
    , m_recipe(new RecipeView(session, this))
    , m_advisor(new Advisor(session, *m_recipe, this))
    , m_ladder(new ShownLadder(session, this))
    , m_elements(new ShownElements(session, this))
    , m_memory(memory)
    , m_layout(new DockLayout(*this))
    , m_layouts(new NamedLayouts(*m_layout, memory, *this))
    , m_strip(new HeaderStrip(session, *m_recipe, this))
    , m_centre(new QStackedWidget(this))
    , m_olderBar(new ErrorBar(this))
    , m_errorBar(new ErrorBar(this))
    , m_recovery(new RecoveryBar(session, this))
    , m_unsaved(
          new UnsavedQuestion(session, *this, [this](const auto& done) { saveProject(m_session.project(), done); }))
    , m_graph(makeGraph(session, *m_recipe, this))
    , m_status(new QLabel(this))
    , m_dropHint(new DropHint(session, *this))
    , m_tour(new Tour(*this, session, [this](const QString& name) { return revealed(name); }))
    , m_actions(new ActionRegistry(*this))
    , m_cycle(new PanelCycle(*this))
    , m_palette(new Palette(this))
    , m_agents(new AgentServing(session, this))
{
    setObjectName(QStringLiteral("mainWindow"));
    new WriteGuard(
        this,
        [this](const QString& path) {
            const Status status = OpenWork(m_session).mayWrite(path);
            return status.ok() ? QString() : issueHeadline(status.issue());
        },
        [this](const QString& path) { emit m_session.written(path); });
    setWindowTitle(QStringLiteral("Quantscope"));
    setAcceptDrops(true);
    setMinimumSize(640, 480);
    resize(1440, 900);
    auto* top = new QToolBar(this);
    top->setObjectName(QStringLiteral("headerToolBar"));
    top->setMovable(false);
    top->setContextMenuPolicy(Qt::PreventContextMenu);
    top->toggleViewAction()->setEnabled(false);
    setContentsMargins(6, 0, 6, 0);
    top->addWidget(m_strip);
    addToolBar(Qt::TopToolBarArea, top);
    buildCentre();
    buildDocks();
    buildLessons();
    buildStatusBar();
    if (m_memory == WindowMemory::Remembered)
        m_theme = readWindowSettings().theme.value_or(ThemeChoice::System);
    m_theme = theme.value_or(m_theme);
    if (m_memory == WindowMemory::Remembered) {
        session.setAutoTry(readWindowSettings().tryRemedies.value_or(true));
        connect(&session, &Session::autoTryChanged, this, [](bool on) { keepWindowSettings({ {}, {}, {}, on }); });
    }
    buildActions();
    connectSession();
    connect(m_strip->findChild<OtherChip*>(), &OtherChip::asked, m_layout,
        [this] { m_layout->raise(QStringLiteral("difference")); });
    if (m_memory == WindowMemory::Remembered)
        m_tour->offerFor(exampleInputs().floatPath);
    m_systemTheme.ask();
    refreshTheme();
    ensurePolished(); // also what is hidden: the layouts ask for its least sizes, which the style decides
    restoreWindow();
    addStateNotes(*this, session, *m_status);
    takeSnapshot(session.snapshot(), session.snapshot());
}

MainWindow::~MainWindow()
{
    m_session.setGuard({});
    delete m_layout; // it follows the panels' visibility, which changes while the base class takes them down
    // windows of their own would hide as they go, and tell so to what they share, which may be gone by then
    for (QDockWidget* dock : findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly))
        if (dock->isFloating())
            dock->hide();
}

void MainWindow::buildCentre()
{
    auto* start = new StartPage(m_recent, this);
    Session* session = &m_session;
    connect(start, &StartPage::openFloat, this, [this] { askForFloat(m_session, this); });
    connect(start, &StartPage::openQuantized, this, [this] { askForQuantized(m_session, this); });
    connect(start, &StartPage::openData, this, [this] { askForData(m_session, this); });
    connect(start, &StartPage::dropData, this, [this] { openData(m_session, {}); });
    connect(start, &StartPage::openExample, session, [session] { openAnew(*session, exampleInputs()); });
    connect(start, &StartPage::openLanguageExample, this, &MainWindow::openLanguageExample);
    connect(start, &StartPage::openProject, this, [this] { askForProject(m_session, this); });
    connect(
        start, &StartPage::openRecent, session, [session](const RecentEntry& entry) { openRecent(*session, entry); });
    m_graph->showHeaderInside();
    start->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored); // while it is hidden, it must not need room
    m_centre->addWidget(start);
    m_centre->addWidget(m_graph);
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(m_recovery);
    column->addWidget(m_olderBar);
    column->addWidget(m_errorBar);
    column->addWidget(m_centre, 1);
    setCentralWidget(centre);
}

void MainWindow::buildStatusBar()
{
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(new ProgressStrip(m_session, this));
}

/// With a way to find a model of the project that is not where it was.
void MainWindow::tellOfFile(const Issue& issue)
{
    const auto& [model, locate] = m_missingModel;
    if (!model.isEmpty() && toQt(issue.file) == model)
        m_errorBar->ask(issue, { { tr("Locate…"), locate } });
    else
        m_errorBar->showIssue(issue);
}

void MainWindow::connectSession()
{
    connect(&m_session, &Session::snapshotChanged, this, &MainWindow::takeSnapshot);
    connect(&m_session, &Session::failed, this, [this](const Issue& issue) {
        const SnapshotPtr& shown = m_session.snapshot();
        if (asksToOpenAgain(issue) && (shown->floatFile || shown->quantFile))
            m_errorBar->ask(issue, { { tr("Reload"), [this] { m_session.reload(); } } });
        else
            tellOfFile(issue);
        m_refusedWrite = false;
        m_changedProject.clear();
        m_status->setText(statusText(m_session)); // what it said may be what the error is about
    });
    connect(&m_session, &Session::modelMissing, this,
        [this](const QString& project, const QString& model, const std::map<QString, QString>& located) {
            m_missingModel = { model,
                [this, project, model, located] { askForMovedModel(m_session, this, project, model, located); } };
        });
    connect(&m_session, &Session::filesChanged, this, [this](const Issue& issue) {
        tellOfFile(issue);
        m_changedProject = m_session.project();
    });
    connect(&m_session, &Session::notWritten, this, [this] { m_refusedWrite = true; });
    askForUndescribed(m_session, this);
    watchFiles();
    connect(&m_session, &Session::cancelled, this, [this] { m_status->setText(cancelledText(m_session)); });
    connect(&m_session, &Session::projectSaved, this, [this](const QString& path) {
        if (m_memory == WindowMemory::Remembered && m_session.project() == path)
            m_recent.add(m_session.files(), path);
        m_refusedWrite = m_refusedWrite || !std::exchange(m_changedProject, {}).isEmpty(); // it is as the files are now
        tellWritten(tr("Saved %1.").arg(QDir::toNativeSeparators(path)));
    });
    connect(&m_session, &Session::written, this,
        [this](const QString& path) { tellWritten(tr("Wrote %1.").arg(QDir::toNativeSeparators(path))); });
    connect(&m_session, &Session::told, m_errorBar, &ErrorBar::showIssue);
    connect(&m_session, &Session::layoutFound, m_layout, [this](const QString& layout) {
        m_layout->showState(QByteArray::fromBase64(layout.section(kLayoutBorder, 0, 0).toLatin1()));
        m_graph->setViewState(layout.section(kLayoutBorder, 1));
    });
    connect(&m_session, &Session::workChanged, this, &MainWindow::refreshTitle);
    connect(&m_session, &Session::filesSwapped, this, [this](const Issue& issue) {
        m_errorBar->ask(issue, { { tr("Swap"), [this] { m_session.openSwapped(); } }, { tr("Open as given"), [this] {
                                                                                           m_session.openAsGiven();
                                                                                       } } });
    });
    qApp->installEventFilter(new PlainReturn(this));
    m_session.setGuard([this](const std::function<void()>& proceed) { m_unsaved->ask(proceed); });
    connect(&m_systemTheme, &SystemTheme::changed, this, &MainWindow::refreshTheme);
}

void MainWindow::takeSnapshot(const SnapshotPtr& now, const SnapshotPtr& before)
{
    const bool open = now->floatModel || now->quantModel;
    refreshTitle();
    m_status->setText(statusText(m_session));
    const bool goesOn = open && focusWidget() && focusWidget() == m_centre->currentWidget();
    m_centre->setCurrentIndex(open ? 1 : 0);
    if (goesOn)
        m_graph->canvas().setFocus(Qt::OtherFocusReason);
    findChild<StartPage*>()->showData(toQt(m_session.files().data.spec));
    showDocks();
    if (now == before)
        return;
    showOther(*now);
    const bool staysTrue = !m_changedProject.isEmpty() && m_changedProject == m_session.project();
    if (!staysTrue && !(now->inputs.asked() == before->inputs.asked()))
        m_errorBar->hide(); // what it says may be of files that were left out of what is shown, until something else is
    if (!now->comparison || !now->comparison->partial) {
        if (m_memory == WindowMemory::Remembered && !m_session.guest())
            m_recent.add(m_session.files(), m_session.project()); // not what an edit makes of them
    }
}

void MainWindow::refreshTitle()
{
    const SnapshotPtr now = m_session.snapshot();
    const bool open = now->floatModel || now->quantModel;
    const QString project = QFileInfo(m_session.project()).completeBaseName();
    setWindowFilePath(m_session.project());
    setWindowTitle(!open ? QStringLiteral("Quantscope")
                         : (m_session.guest()          ? m_lessons->title()
                                   : project.isEmpty() ? projectName(now->inputs)
                                                       : project)
                + QStringLiteral("[*] — Quantscope"));
    setWindowModified(open && m_session.unsaved());
}

void MainWindow::saveProject(const QString& path, std::function<void(bool saved)> done)
{
    if (!path.isEmpty())
        return qs::saveProject(m_session, path, layoutState(), done);
    askWhereToSave(
        m_session, this, [this, done](const QString& chosen) { saveProject(chosen, done); },
        [done] {
            if (done)
                done(false);
        });
}

QString MainWindow::layoutState() const
{
    return QString::fromLatin1(m_layout->state().toBase64()) + kLayoutBorder + m_graph->viewState();
}

void MainWindow::refreshTheme()
{
    const bool dark = m_theme == ThemeChoice::Dark || (m_theme == ThemeChoice::System && m_systemTheme.dark());
    const Theme theme = dark ? Theme::darkOne() : Theme::light();
    applyTheme(theme);
    m_session.setTheme(theme);
}

void MainWindow::restoreWindow()
{
    if (m_memory == WindowMemory::Remembered) {
        const WindowSettings settings = readWindowSettings();
        restoreGeometry(settings.geometry);
        m_layout->showState(settings.docks);
    }
    m_layout->hideAll();
}

/// What it says of tokens is what it is there for.
void MainWindow::openLanguageExample()
{
    const Inputs example = languageExampleInputs();
    openAnew(m_session, example);
    const auto show = [this, path = example.floatPath] {
        if (m_session.snapshot()->inputs.floatPath == path) // somebody may have stayed with what was open
            showView(QStringLiteral("tokens"));
    };
    connect(&m_session, &Session::settled, this, show, Qt::ConnectionType(Qt::SingleShotConnection));
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    showDocks();
}

void MainWindow::showDocks()
{
    const bool wanted = m_centre->currentWidget() == m_graph;
    if (wanted == m_docksShown || (wanted && !isVisible())) // sizes are shares of the shown window's
        return;
    m_docksShown = wanted;
    if (!wanted)
        return m_layout->hideAll();
    m_layout->showAgain();
    showOther(*m_session.snapshot());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_lessons->leave();
    if (m_session.unsaved()) {
        event->ignore();
        m_unsaved->ask([this] {
            m_session.forgetUnsaved();
            close();
        });
        return;
    }
    if (m_memory == WindowMemory::Remembered)
        keepWindowSettings({ saveGeometry(), m_layout->state(), {} });
    m_session.jobs().cancelAll();
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QStringList files = droppedFiles(event->mimeData());
    if (files.isEmpty())
        return;
    event->acceptProposedAction();
    m_dropHint->showFor(files);
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList files = droppedFiles(event->mimeData());
    if (files.isEmpty())
        return;
    event->acceptProposedAction();
    if (!askForUse(m_session, this, files, event->position().toPoint()))
        openFiles(m_session, files);
}

} // namespace qs

#include "moc_main_window.cpp"
