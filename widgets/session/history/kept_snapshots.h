// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <list>

namespace qs {

/// Complete snapshots of the last recipes, so that going back to one runs nothing.
class KeptSnapshots {
public:
    explicit KeptSnapshots(size_t most)
        : m_most(most)
    {
    }
    void keep(const SnapshotPtr& snapshot);
    /// Null when it is gone.
    SnapshotPtr find(const Asked& asked);
    void clear() { m_list.clear(); }

private:
    size_t m_most;
    std::list<SnapshotPtr> m_list; ///< newest first
};

} // namespace qs
