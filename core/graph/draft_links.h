// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Who makes and who reads a draft's values; valid as long as the draft's nodes keep their places.
class DraftLinks {
public:
    explicit DraftLinks(const GraphDraft& draft);
    /// SIZE_MAX: no node makes it.
    size_t producer(const std::string& name) const;
    /// Node indices, one a slot.
    const std::vector<size_t>& readers(const std::string& name) const;
    /// Nobody else reads it: one slot of one node, no subgraph, no output of the model.
    bool readOnce(const std::string& name) const;

private:
    const GraphDraft* m_draft;
    std::unordered_map<std::string, size_t> m_producers;
    std::unordered_map<std::string, std::vector<size_t>> m_readers;
};

} // namespace qs
