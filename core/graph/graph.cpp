// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph.h"

#include <algorithm>

namespace qs {

ValueId Graph::findValue(std::string_view name) const
{
    const auto it = m_valueByName.find(std::string(name));
    return it == m_valueByName.end() ? ValueId() : it->second;
}

NodeId Graph::findNode(std::string_view name) const
{
    const auto it = m_nodeByName.find(std::string(name));
    return it == m_nodeByName.end() ? NodeId() : it->second;
}

bool Graph::isInput(ValueId id) const { return std::ranges::find(m_inputs, id) != m_inputs.end(); }
bool Graph::isOutput(ValueId id) const { return std::ranges::find(m_outputs, id) != m_outputs.end(); }

} // namespace qs
