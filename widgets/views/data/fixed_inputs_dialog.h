// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QDialog>

class QLabel;
class QTableWidget;

namespace qs {

/// Values and sizes that the model's inputs always have, as the recipe keeps them: an If that depends on one is folded
/// then. Applying is one step of undo.
class FixedInputsDialog : public QDialog {
    Q_OBJECT
public:
    explicit FixedInputsDialog(Session& session, QWidget* parent = nullptr);
    QTableWidget* table() const { return m_table; } ///< a line an input: name, what it is, its value, its sizes
    QLabel* message() const { return m_message; }

private:
    void fill();
    void accept() override;

    Session& m_session;
    QTableWidget* m_table;
    QLabel* m_message;
};

} // namespace qs
