// SPDX-License-Identifier: GPL-3.0-or-later
// What the window's menus, keys and palette reach, and its views by their names.
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/changed_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/menu_keys.h"
#include "widgets/views/agent/agent_chip.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/palette/palette_sources.h"
#include "widgets/views/recipe/recipe_form.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/menus/window_menus.h"
#include "widgets/views/window/named_layouts.h"
#include "widgets/views/window/panel_cycle.h"
#include "widgets/views/window/recovery_bar.h"
#include "widgets/views/window/start_page.h"

#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QStatusBar>

#include <utility>

namespace qs {

/// Menus and keys, once all panels are there.
void MainWindow::buildActions()
{
    new MenuKeys(this);
    const QList<QAction*> panels = m_layout->toggleActions();
    std::vector<std::pair<QString, QString>> titles;
    for (Panel* panel : findChildren<Panel*>())
        titles.emplace_back(panel->objectName(), panel->header()->title());
    buildMenus({ *this, m_session, m_recent, *m_graph, *m_tensors, *m_recipe, *m_matching, *m_tour, exampleInputs(),
        [this] { openLanguageExample(); }, [this](const QString& path) { saveProject(path); },
        [this] { return m_theme; }, [this](ThemeChoice choice) { setThemeChoice(choice); },
        [this](const QString& name) { m_layout->raise(name); }, panels,
        [this](bool forward) { m_cycle->step(forward); }, [this](QMenu& menu) { m_layouts->fill(menu); },
        [this] { m_palette->open(); }, *m_lessons, *m_agents });
    if (auto* const agents = findChild<QMenu*>(QStringLiteral("agentMenu")))
        statusBar()->addPermanentWidget(new AgentChip(*m_agents, *agents, this));
    connect(m_strip, &HeaderStrip::searchAsked, this, [this] { m_palette->open(); });
    new PaletteSources(*m_palette,
        { *m_actions, m_session, *m_recipe, std::move(titles), [this](const QString& name) { showPanel(name); },
            [this](size_t finding) { findChild<FindingsPanel*>()->showFinding(finding); },
            [this](const std::string& path) { showSetting(path); } });
    m_actions->collect();
    connect(m_layouts, &NamedLayouts::menuFilled, m_actions, &ActionRegistry::collect);
    if (m_memory == WindowMemory::Remembered) {
        m_actions->remember();
        m_palette->remember();
    }
}

QStringList MainWindow::viewNames()
{
    return { QStringLiteral("graph"), QStringLiteral("graph-2"), QStringLiteral("outline"), QStringLiteral("tensors"),
        QStringLiteral("weights"), QStringLiteral("weight-lab"), QStringLiteral("inspector"),
        QStringLiteral("distribution"), QStringLiteral("values"), QStringLiteral("arithmetic"),
        QStringLiteral("channels"), QStringLiteral("error-map"), QStringLiteral("layer-chart"),
        QStringLiteral("findings"), QStringLiteral("outputs"), QStringLiteral("samples"), QStringLiteral("tokens"),
        QStringLiteral("caches"), QStringLiteral("matching"), QStringLiteral("difference"), QStringLiteral("elements"),
        QStringLiteral("files"), QStringLiteral("ladder"), QStringLiteral("saturation"), QStringLiteral("what-if"),
        QStringLiteral("runs"), QStringLiteral("advisor"), QStringLiteral("jobs"), QStringLiteral("lesson") };
}

bool MainWindow::showView(const QString& name)
{
    if (name == QLatin1String("what-if"))
        m_layout->apply(LayoutName::WhatIf);
    static const QStringList kCompared { QStringLiteral("graph-2"), QStringLiteral("difference"),
        QStringLiteral("elements"), QStringLiteral("files"), QStringLiteral("ladder") };
    if (kCompared.contains(name))
        m_layout->apply(LayoutName::Compare);
    if (name != m_graph->objectName())
        return m_layout->raise(name);
    m_graph->canvas().setFocus(Qt::OtherFocusReason);
    return true;
}

QWidget* MainWindow::revealed(const QString& name)
{
    m_layout->raise(name);
    return findChild<QWidget*>(name);
}

void MainWindow::showPanel(const QString& name)
{
    m_layout->raise(name);
    if (auto* panel = findChild<Panel*>(name))
        m_cycle->enter(*panel);
}

void MainWindow::showSetting(const std::string& path)
{
    m_layout->raise(QStringLiteral("what-if"));
    if (auto* form = findChild<RecipeForm*>())
        form->goTo(path);
}

void MainWindow::watchFiles()
{
    auto* changes = new ChangedFiles(m_session, this);
    connect(changes, &ChangedFiles::projectChanged, this, [this](const QString& path) {
        m_errorBar->ask(badInput("has been saved by another window or program since it was opened; this window has the "
                                 "older work",
                            path.toStdString(), "open it again, or save this work under another name"),
            { { tr("Open again"), [this, path] { openProject(m_session, path); } } });
    });
    const auto tell = [this, changes] { tellOlder(changes->older()); };
    connect(changes, &ChangedFiles::changed, this, tell);
    connect(changes, &ChangedFiles::olderChanged, this, tell);
    const auto tellAgain = [this, tell] {
        if (!m_olderBar->isVisible()) // it was closed
            tell();
    };
    connect(&m_session, &Session::snapshotChanged, changes, tellAgain);
    connect(&m_session, &Session::failed, changes, tell); // what was written anew may be gone by now
    connect(&m_session, &Session::cancelled, changes, tellAgain);
}

/// Until they are read again, whatever else is said.
void MainWindow::tellOlder(const QStringList& paths)
{
    if (paths.isEmpty())
        return m_olderBar->hide();
    std::string what;
    for (const QString& path : paths) {
        const bool gone = !QFileInfo::exists(path);
        if (what.empty())
            what = gone ? "is gone" : "has been written anew since it was opened";
        else
            what += "; " + fileName(path.toStdString()).toStdString() + (gone ? " is gone" : " has been written anew");
    }
    what += paths.size() > 1 ? "; what is shown is of the older files" : "; what is shown is of the older file";
    m_olderBar->ask(badInput(what, paths.front().toStdString(), "reload to see what it is now"),
        { { tr("Reload"), [this] { m_session.reload(); } } });
}

/// Escape, which nothing else had a use for.
void MainWindow::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && m_errorBar->isVisible())
        m_errorBar->hide();
    else
        QMainWindow::keyPressEvent(event);
}

/// Nobody asked for it: its buttons are not what the next key is for.
void MainWindow::offerRecovery(const QStringList& paths)
{
    m_recovery->offer(paths);
    if (const QWidget* now = focusWidget(); !now || m_recovery->isAncestorOf(now))
        m_centre->currentWidget()->setFocus(Qt::OtherFocusReason);
}

/// That something could not be written before is no news any more.
void MainWindow::tellWritten(const QString& text)
{
    m_status->setText(text);
    if (std::exchange(m_refusedWrite, false))
        m_errorBar->hide();
}

/// A second quantized model that was just chosen comes into sight, whatever the layout.
void MainWindow::showOther(const Snapshot& now)
{
    if (!now.inputs.other.given() && std::exchange(m_otherSeen, false))
        m_layout->leaveBeside();
    if (!now.other || m_otherSeen || !m_docksShown)
        return;
    m_otherSeen = true;
    m_layout->showBeside(QStringLiteral("graph-2"), QStringLiteral("difference"));
}

void MainWindow::setThemeChoice(ThemeChoice choice)
{
    m_theme = choice;
    if (m_memory == WindowMemory::Remembered)
        keepWindowSettings({ {}, {}, choice });
    refreshTheme();
}

} // namespace qs
