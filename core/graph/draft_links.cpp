// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/draft_links.h"

namespace qs {

DraftLinks::DraftLinks(const GraphDraft& draft)
    : m_draft(&draft)
{
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        for (const std::string& out : draft.nodes[n].outputs)
            if (!out.empty())
                m_producers.emplace(out, n);
        for (const std::string& in : draft.nodes[n].inputs)
            if (!in.empty())
                m_readers[in].push_back(n);
    }
}

size_t DraftLinks::producer(const std::string& name) const
{
    const auto it = m_producers.find(name);
    return it == m_producers.end() ? SIZE_MAX : it->second;
}

const std::vector<size_t>& DraftLinks::readers(const std::string& name) const
{
    static const std::vector<size_t> none;
    const auto it = m_readers.find(name);
    return it == m_readers.end() ? none : it->second;
}

bool DraftLinks::readOnce(const std::string& name) const
{
    return readers(name).size() == 1 && !m_draft->isOutput(name) && !m_draft->isCaptured(name);
}

} // namespace qs
