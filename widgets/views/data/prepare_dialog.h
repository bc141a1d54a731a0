// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/export/prepared_model.h"

#include <QDialog>

class QLabel;
class QPushButton;
class QTableWidget;

namespace qs {

/// Passes over the float model as a step of their own: chosen, run and proved, each with what it did, and kept as a
/// new float model.
class PrepareDialog : public QDialog {
    Q_OBJECT
public:
    explicit PrepareDialog(Session& session, QWidget* parent = nullptr);
    ~PrepareDialog() override;
    QTableWidget* table() const { return m_table; } ///< a line a pass: check box and name, what it is for, what it did
    QPushButton* runButton() const { return m_run; }
    QPushButton* saveButton() const { return m_save; }
    const PreparedModel& prepared() const { return m_prepared; }

private:
    void fillPasses();
    std::vector<std::string> chosen() const;
    void run();
    void show(const PreparedModel& prepared);
    void forget(); ///< what was made of other passes
    void askWhere();

    Session& m_session;
    PreparedModel m_prepared;
    QTableWidget* m_table;
    QLabel* m_message;
    QPushButton *m_run, *m_save;
};

/// What a pass did, in a sentence.
QString passText(const ProvedPass& pass);

} // namespace qs
