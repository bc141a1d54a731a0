// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/lesson/lesson_run.h"

#include <QWidget>

class QButtonGroup;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace qs {

/// Takes the answer to any kind of question: a number, a choice, what is selected in the window, changes of the recipe.
class AnswerForm : public QWidget {
    Q_OBJECT
public:
    AnswerForm(Session& session, LessonRun& run, QWidget* parent = nullptr);
    void ask(); ///< the step's question, empty
    LessonAnswer answer() const;
    bool complete() const; ///< something is there to be checked
    void setOpen(bool open); ///< it can be changed
    QList<QWidget*> fields() const; ///< in the order of Tab
    void begin(); ///< gives the focus to what is to be filled in

protected:
    void keyPressEvent(QKeyEvent* event) override;

signals:
    void submitted();
    void edited();

private:
    void build();
    void addChoices(const QStringList& choices);
    void followSelection();
    QString selectedName() const;
    void showChanges();

    Session& m_session;
    LessonRun& m_run;
    QGridLayout* m_grid;
    QLineEdit* m_number = nullptr;
    QLineEdit* m_pick = nullptr;
    QPushButton* m_take = nullptr; ///< for a pick that stays, though something else is selected
    QLabel* m_changes = nullptr;
    QButtonGroup* m_choices = nullptr;
};

/// What is selected, as a pick of that kind answers; empty: nothing.
QString pickedName(const Session& session, const Place& place, const std::string& what);

} // namespace qs
