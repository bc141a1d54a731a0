// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

class QMenu;

namespace qs {

class AgentServing;

/// In the status bar: who is attached, what it has done and what it may; its menu has what the person decides. Hidden
/// while no agent may attach.
class AgentChip : public QToolButton {
    Q_OBJECT
public:
    AgentChip(AgentServing& serving, QMenu& menu, QWidget* parent = nullptr);

private:
    void refresh();
    QString told() const; ///< all of it, for the tool tip

    AgentServing& m_serving;
};

} // namespace qs
