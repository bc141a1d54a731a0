// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMenu;

namespace qs {

class AgentServing;
class Session;

/// What the person decides about agents: whether they may attach and edit, and what becomes of their edits.
void fillAgentMenu(QMenu& menu, AgentServing& serving, Session& session);

} // namespace qs
