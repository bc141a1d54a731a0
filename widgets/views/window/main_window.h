// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"
#include "widgets/session/session.h"
#include "widgets/views/theme/system_theme.h"
#include "widgets/views/window/window_settings.h"

#include <QMainWindow>

#include <functional>
#include <utility>

class QLabel;
class QStackedWidget;

namespace qs {

class ActionRegistry;
class DockLayout;
class DropHint;
class Advisor;
class AgentServing;
class ErrorBar;
class GraphPanel;
class HeaderStrip;
class LessonRoom;
class Panel;
class MatchingPanel;
class NamedLayouts;
class Palette;
class PanelCycle;
class RecipeView;
class RecoveryBar;
class ShownElements;
class ShownLadder;
class TablePanel;
class UnsavedQuestion;
class Tour;

/// Puts the views together; knows no engine and decides nothing about numbers.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// Without a choice: as last time, else as the system.
    MainWindow(Session& session, std::optional<ThemeChoice> theme, WindowMemory memory, QWidget* parent = nullptr);
    ~MainWindow() override;

    static QStringList viewNames();
    /// Brings a panel to the front ("layer-chart"); false for an unknown name.
    bool showView(const QString& name);
    void setThemeChoice(ThemeChoice choice);
    /// Asks about work that other processes left behind (Autosave::lost).
    void offerRecovery(const QStringList& paths);
    QString layoutState() const; ///< for a project file
    GraphPanel& graph() const { return *m_graph; }
    TablePanel& tensors() const { return *m_tensors; }
    MatchingPanel& matching() const { return *m_matching; }
    DockLayout& layoutOfPanels() const { return *m_layout; }
    NamedLayouts& namedLayouts() const { return *m_layouts; }
    RecipeView& recipe() const { return *m_recipe; }
    Advisor& advisor() const { return *m_advisor; }
    ShownLadder& ladder() const { return *m_ladder; }
    ShownElements& elements() const { return *m_elements; }
    ErrorBar& olderBar() const { return *m_olderBar; }
    ErrorBar& errorBar() const { return *m_errorBar; }
    UnsavedQuestion& unsaved() const { return *m_unsaved; }
    Tour& tour() const { return *m_tour; }
    ActionRegistry& actions() const { return *m_actions; }
    LessonRoom& lessons() const { return *m_lessons; }
    AgentServing& agents() const { return *m_agents; }
    Palette& finder() const { return *m_palette; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void buildCentre();
    void buildDocks();
    void offerPanel(const QString& text, const QString& name);
    Panel* makeLessonPanel();
    void buildLessons(); ///< once its panel is there
    std::function<void()> keptLayout();
    void present(bool on);
    void buildStatusBar();
    void buildActions();
    void showPanel(const QString& name); ///< and gives it the focus
    void showSetting(const std::string& path); ///< of the recipe
    void connectSession();
    void tellOfFile(const Issue& issue);
    void watchFiles();
    void tellOlder(const QStringList& paths);
    void takeSnapshot(const SnapshotPtr& now, const SnapshotPtr& before);
    void showOther(const Snapshot& now);
    void tellWritten(const QString& text);
    void refreshTitle();
    void saveProject(const QString& path, std::function<void(bool saved)> done = {});
    void openLanguageExample();
    void refreshTheme();
    QWidget* revealed(const QString& name); ///< a panel, brought to the front, or another widget
    void restoreWindow();
    void showDocks(); ///< as the start page goes or comes

    Session& m_session;
    RecipeView* m_recipe;
    Advisor* m_advisor;
    ShownLadder* m_ladder;
    ShownElements* m_elements;
    RecentFiles m_recent;
    SystemTheme m_systemTheme;
    ThemeChoice m_theme = ThemeChoice::System;
    WindowMemory m_memory;
    DockLayout* m_layout;
    NamedLayouts* m_layouts;
    HeaderStrip* m_strip;
    QStackedWidget* m_centre;
    ErrorBar* m_olderBar; ///< that what is shown is of older files
    ErrorBar* m_errorBar;
    RecoveryBar* m_recovery;
    UnsavedQuestion* m_unsaved;
    GraphPanel* m_graph;
    TablePanel* m_tensors = nullptr;
    MatchingPanel* m_matching = nullptr;
    QLabel* m_status;
    DropHint* m_dropHint;
    Tour* m_tour;
    ActionRegistry* m_actions;
    PanelCycle* m_cycle;
    Palette* m_palette;
    LessonRoom* m_lessons = nullptr;
    AgentServing* m_agents;
    bool m_docksShown = false;
    bool m_refusedWrite = false; ///< is what the error bar says
    std::pair<QString, std::function<void()>> m_missingModel; ///< of the project opened last, and how to find it
    QString m_changedProject; ///< whose files are said to have changed there; empty: something else is said
    bool m_otherSeen = false; ///< the second quantized model that is open was brought into sight
};

} // namespace qs
