// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/lesson/lesson_list.h"
#include "widgets/views/base/panel.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QToolButton;

namespace qs {

class AnswerForm;
class LessonRun;
class LessonText;
class Session;

/// The lesson that is taken: its steps with ticks, the text of the step, its question and what answers it. Without one,
/// the lessons to choose from.
class LessonPanel : public Panel {
    Q_OBJECT
public:
    LessonPanel(Session& session, LessonRun& run, QWidget* parent = nullptr);
    void offer(const std::vector<LessonEntry>& lessons, const std::vector<QString>& states, const QString& problem);
    void setTextScale(double scale);
    /// Larger, without what only one learner needs; what was answered stays hidden.
    void setPresenting(bool on);
    void enter(); ///< gives the focus to what is to be answered
    void next(int by = 1); ///< goes on by so many steps

signals:
    void chosen(const QString& folder);
    void leaveAsked();
    void seedAsked(const QString& seed);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeLesson();
    QWidget* makeSteps();
    QWidget* makeButtons();
    QWidget* makeFoot();
    void takeStep();
    void focusAnswer();
    void focusNext();
    void keepFocus(QWidget& of, bool stays);
    void setUsable(QWidget& one, bool usable);
    void setShown(QWidget& one, bool shown);
    void refresh();
    void refreshText();
    void refreshButtons();
    void refreshSteps();
    void fitSteps(); ///< as many of them in sight as the panel's height has room for

    LessonRun& m_run;
    QStackedWidget* m_pages;
    QListWidget* m_offered;
    QLabel* m_problem;
    QListWidget* m_steps;
    QLineEdit* m_seed;
    LessonText* m_text;
    AnswerForm* m_form;
    QPushButton *m_check, *m_hint, *m_show, *m_next, *m_setUp, *m_again;
    QWidget* m_foot = nullptr;
    bool m_presenting = false;
    QWidget* m_from = nullptr; ///< had the focus when something was asked of the lesson, or lost it; compared only
    double m_scale = 1;
};

} // namespace qs
