// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"

#include <QFrame>

#include <vector>

class QGridLayout;
class QPushButton;
class QVBoxLayout;

namespace qs {

/// What one sees before anything is open.
class StartPage : public QFrame {
    Q_OBJECT
public:
    explicit StartPage(RecentFiles& recent, QWidget* parent = nullptr);

signals:
    void openFloat();
    void openQuantized();
    void openData();
    void openExample();
    void openProject();
    void openRecent(const qs::RecentEntry& entry);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();

    RecentFiles& m_recent;
    std::vector<QPushButton*> m_buttons;
    int m_perRow = 0;
    QGridLayout* m_grid; ///< of the buttons
    QVBoxLayout* m_list;
};

/// The bundled example; empty paths when it is not installed.
Inputs exampleInputs();

} // namespace qs
