// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"

#include <QFrame>

#include <vector>

class QGridLayout;
class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace qs {

class ElidedLabel;

/// A lesson to take.
struct StartLesson {
    QString folder, title, state; ///< "15 minutes, 3 of 10 steps done"
};

/// What one sees before anything is open.
class StartPage : public QFrame {
    Q_OBJECT
public:
    explicit StartPage(RecentFiles& recent, QWidget* parent = nullptr);

    /// Lessons to take, each with its minutes and how far it was taken.
    void setLessons(const std::vector<StartLesson>& lessons);
    /// Data that were chosen and wait for a model; empty: there are none.
    void showData(const QString& path);

signals:
    void takeLesson(const QString& folder);
    void openFloat();
    void openQuantized();
    void openData();
    void dropData();
    void openExample();
    void openLanguageExample();
    void openProject();
    void openRecent(const qs::RecentEntry& entry);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeData();
    void fitPage();
    void refresh();

    RecentFiles& m_recent;
    std::vector<QPushButton*> m_buttons;
    int m_perRow = 0;
    bool m_besideLessons = false; ///< the recent files
    QWidget* m_page; ///< all, in the middle
    QGridLayout* m_grid; ///< of the buttons
    QWidget* m_data; ///< what is said of data without a model
    ElidedLabel* m_dataName;
    QVBoxLayout* m_list;
    QVBoxLayout* m_lessons;
    QHBoxLayout* m_lists; ///< both
};

/// The bundled example; empty paths when it is not installed.
Inputs exampleInputs();
Inputs languageExampleInputs(); ///< a small language model, its int4 form, and prompts

} // namespace qs
