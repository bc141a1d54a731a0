// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/lesson/lesson_list.h"
#include "widgets/session/lesson/lesson_run.h"

#include <QObject>
#include <QStringList>

#include <functional>

class QWidget;

namespace qs {

class LessonPanel;
class LessonTopics;

/// What a lesson asks of the window.
struct LessonStage {
    QWidget* window = nullptr;
    std::function<std::function<void()>()> keepLayout; ///< gives what restores the panels as they stand now
    /// The layout Teach with these panels, and without those.
    std::function<void(const QStringList& panels, const QStringList& hidden)> arrange;
    std::function<void(bool next)> sayWhyHidden; ///< this step asks for what panels show, or only the next one
    std::function<void(const QString& panel)> raise; ///< without taking the focus
    std::function<void()> forgetTyped; ///< in panels about the recipe, and not applied
    std::function<void()> showFirstRows; ///< of tables, as far as what is selected stays in sight
    std::function<void(const Issue&)> tell;
    std::function<void(bool on)> present; ///< nothing but the lesson and the live program, large
    bool remembered = true; ///< progress is kept in the settings
};

/// Takes lessons in the window: chooses, begins, arranges the panels that a step needs, keeps the progress, prints.
class LessonRoom : public QObject {
    Q_OBJECT
public:
    LessonRoom(Session& session, LessonPanel& panel, LessonStage stage, QObject* parent = nullptr);

    LessonRun& run() { return *m_run; }
    const std::vector<LessonEntry>& lessons() const { return m_lessons; }
    QString title() const; ///< of the lesson that is taken; empty: none
    QString stateText(const LessonEntry& lesson) const; ///< "15 minutes, 3 of 10 steps done"
    /// A folder of lessons, or one lesson; what is wrong with it is told.
    void openFolder(const QString& folder);
    void begin(
        const QString& folder, std::optional<size_t> step = {}); ///< where it was left; what is open is set aside
    void beginById(const QString& id); ///< says so where there is none of that id
    /// Opens the step that teaches the first of these; says so where none does.
    void learn(const QStringList& topics);
    void leave();
    void startAgain(const QString& seed); ///< asks first where answers would be lost
    void askForFolder();
    void askForResults(bool pdf);
    void askForHandout(bool answers);
    void setTextSize(int size); ///< 0, 1, 2
    int textSize() const { return m_textSize; }
    void setPresenting(bool on);
    bool presenting() const { return m_presenting; }

signals:
    void lessonsChanged(); ///< or their progress
    void activeChanged(bool active);
    void written(const QString& path);

private:
    void arrangeStep();
    void arrangeAnswered();
    QStringList hiddenPanels() const;
    void arrange();
    void keepProgress();
    void refreshOffer();
    void startWith(uint64_t seed);
    void writeFile(const QString& path, const std::function<Status()>& write);

    Session& m_session;
    LessonPanel& m_panel;
    LessonStage m_stage;
    LessonRun* m_run;
    LessonTopics* m_topics;
    LessonPlaces m_places;
    std::vector<LessonEntry> m_lessons;
    QString m_problem;
    std::map<QString, LessonProgress> m_kept; ///< of this session, where nothing is remembered
    std::function<void()> m_restoreLayout;
    std::optional<std::pair<QStringList, QStringList>> m_arranged; ///< panels of the last step, and hidden ones
    bool m_toArrange = false, m_presenting = false;
    int m_textSize = 0;
};

/// The finding and the panel with the focus, then the number that colours the graph, as lessons name them.
QStringList topicsInFocus(Metric metric);
QString topicOf(Metric metric);

} // namespace qs
