// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/history/kept_snapshots.h"

#include <algorithm>

namespace qs {

void KeptSnapshots::keep(const SnapshotPtr& snapshot)
{
    m_list.remove_if([&](const SnapshotPtr& old) { return old->inputs.asked() == snapshot->inputs.asked(); });
    m_list.push_front(snapshot);
    if (m_list.size() > m_most)
        m_list.pop_back();
}

SnapshotPtr KeptSnapshots::find(const Asked& asked)
{
    const auto it
        = std::ranges::find_if(m_list, [&](const SnapshotPtr& kept) { return kept->inputs.asked() == asked; });
    if (it == m_list.end())
        return nullptr;
    m_list.splice(m_list.begin(), m_list, it);
    return m_list.front();
}

} // namespace qs
