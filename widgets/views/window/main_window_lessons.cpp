// SPDX-License-Identifier: GPL-3.0-or-later
// What lessons ask of the window.
#include "widgets/session/lesson/lesson_run.h"
#include "widgets/session/lesson/lesson_topics.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/help/tour.h"
#include "widgets/views/lesson/lesson_panel.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/recipe/override_editor.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/named_layouts.h"
#include "widgets/views/window/recovery_bar.h"
#include "widgets/views/window/start_page.h"
#include "widgets/views/window/unsaved_question.h"

#include <QDir>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QShortcut>
#include <QStatusBar>
#include <QTableView>
#include <QToolBar>

namespace qs {

namespace {

/// Stands before the graph while a step, or the next one, asks for what it shows at its nodes and edges.
class GraphCover : public QLabel {
public:
    explicit GraphCover(QWidget& graph)
        : QLabel(&graph)
    {
        setObjectName(QStringLiteral("graphCover"));
        setAlignment(Qt::AlignCenter);
        setWordWrap(true);
        setMargin(24);
        setAutoFillBackground(true);
        graph.installEventFilter(this);
        setGeometry(graph.rect());
        raise();
        show();
    }

protected:
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Resize)
            setGeometry(parentWidget()->rect());
        return false;
    }
};

void showFirstRows(const QWidget& window)
{
    for (const TablePanel* panel : window.findChildren<TablePanel*>()) {
        QTableView* table = panel->table();
        table->scrollToTop();
        const QModelIndex chosen = table->currentIndex();
        if (chosen.isValid() && table->selectionModel()->isRowSelected(chosen.row()))
            table->scrollTo(chosen.siblingAtColumn(0));
    }
}

void coverGraph(QWidget& graph, bool covered)
{
    auto* const cover = graph.findChild<QWidget*>(QStringLiteral("graphCover"), Qt::FindDirectChildrenOnly);
    if (covered && !cover)
        new GraphCover(graph);
    else if (!covered)
        delete cover;
}

} // namespace

Panel* MainWindow::makeLessonPanel()
{
    new LessonTopics(&m_session);
    auto* run = new LessonRun(m_session, this);
    auto* panel = new LessonPanel(m_session, *run, this);
    run->setParent(panel);
    connect(run, &LessonRun::stepShown, this, [this] { // it speaks of what was open before
        if (m_tour && m_tour->running())
            m_tour->end();
    });
    return panel;
}

void MainWindow::buildLessons()
{
    LessonStage stage;
    stage.window = this;
    stage.keepLayout = [this] { return keptLayout(); };
    stage.arrange = [this](const QStringList& panels, const QStringList& hidden) {
        const auto names = [](const QStringList& from) {
            std::vector<std::string> made;
            for (const QString& name : from)
                made.push_back(name.toStdString());
            return made;
        };
        m_layout->applyTeach(names(panels), names(hidden));
        coverGraph(*m_graph, hidden.contains(QStringLiteral("graph")));
    };
    stage.sayWhyHidden = [this](bool next) {
        if (auto* cover = m_graph->findChild<QLabel*>(QStringLiteral("graphCover"), Qt::FindDirectChildrenOnly))
            cover->setText(next
                    ? tr("The graph shows what the next step asks for, too. It comes back once that is answered.")
                    : tr("The graph shows what this step asks for. It comes back once the answer is known."));
    };
    stage.raise = [this](const QString& panel) { m_layout->front(panel); };
    stage.forgetTyped = [this] {
        for (OverrideEditor* fields : findChildren<OverrideEditor*>())
            fields->startOver();
        for (const ExclusionTree* nodes : findChildren<ExclusionTree*>())
            nodes->pattern()->clear();
    };
    stage.showFirstRows = [this] { showFirstRows(*this); };
    stage.tell = [this](const Issue& issue) { m_errorBar->showIssue(issue); };
    stage.present = [this](bool on) { present(on); };
    stage.remembered = m_memory == WindowMemory::Remembered;
    m_lessons = new LessonRoom(m_session, *findChild<LessonPanel*>(), stage, this);
    connect(m_lessons, &LessonRoom::written, this,
        [this](const QString& path) { tellWritten(tr("Wrote %1.").arg(QDir::toNativeSeparators(path))); });
    connect(m_lessons, &LessonRoom::activeChanged, this, &MainWindow::refreshTitle);
    // What it set aside may have to be asked about.
    connect(m_unsaved, &UnsavedQuestion::askingAtOnce, m_lessons, &LessonRoom::leave);
    // What a lesson opens goes with it, and so would the work that comes back.
    connect(m_recovery, &RecoveryBar::restoring, m_lessons, &LessonRoom::leave);
    auto* start = findChild<StartPage*>();
    connect(start, &StartPage::takeLesson, m_lessons, [this](const QString& folder) { m_lessons->begin(folder); });
    const auto refresh = [this, start] {
        std::vector<StartLesson> lessons;
        for (const LessonEntry& lesson : m_lessons->lessons())
            if (lesson.problem.isEmpty())
                lessons.push_back({ lesson.folder, lesson.title, m_lessons->stateText(lesson) });
        start->setLessons(lessons);
    };
    connect(m_lessons, &LessonRoom::lessonsChanged, start, refresh);
    refresh();
}

/// Panels, layout and what the graph shows, as they are now.
std::function<void()> MainWindow::keptLayout()
{
    return [this, docks = m_layout->state(), graph = m_graph->viewState(), choice = m_layouts->choice()] {
        coverGraph(*m_graph, false);
        m_layout->giveBack(docks);
        m_graph->setViewState(graph);
        m_layouts->giveBack(choice);
    };
}

/// Keys of entries of a menu bar that is hidden do nothing, so those of the presentation are keys of the window.
void MainWindow::present(bool on)
{
    menuBar()->setVisible(!on);
    statusBar()->setVisible(!on);
    findChild<QToolBar*>(QStringLiteral("headerToolBar"))->setVisible(!on);
    setWindowState(windowState().setFlag(Qt::WindowFullScreen, on));
    for (QShortcut* key : findChildren<QShortcut*>(QStringLiteral("presentationKey"), Qt::FindDirectChildrenOnly))
        key->deleteLater();
    if (!on)
        return;
    auto* panel = findChild<LessonPanel*>();
    const auto add = [this](int key, std::function<void()> act) {
        auto* shortcut = new QShortcut(QKeySequence(key), this);
        shortcut->setObjectName(QStringLiteral("presentationKey"));
        connect(shortcut, &QShortcut::activated, this, std::move(act));
    };
    add(Qt::Key_PageDown, [panel] { panel->next(); });
    add(Qt::Key_PageUp, [panel] { panel->next(-1); });
    for (const int key : { Qt::Key_F11, Qt::Key_Escape })
        add(key, [this] { m_lessons->setPresenting(false); });
}

} // namespace qs
