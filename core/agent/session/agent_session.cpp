// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/session/agent_session.h"

#include "core/report/json/compare_json.h"

#include <utility>

namespace qs {

bool AgentSession::upToDate() const { return m_comparison && m_comparison->inputs.asked() == present().asked(); }

void AgentSession::tell(SnapshotPtr comparison)
{
    if (comparison == m_comparison)
        return;
    m_comparison = std::move(comparison);
    m_document.reset();
}

const AgentJson& AgentSession::document()
{
    if (!m_document)
        m_document = m_comparison ? compareDocument(*m_comparison) : AgentJson();
    return *m_document;
}

Issue notSoManySteps(bool redo, size_t most)
{
    return badUse(std::string("there are not so many steps to ") + (redo ? "redo" : "undo"),
        "give at most " + std::to_string(most));
}

} // namespace qs
