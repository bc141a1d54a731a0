// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft_links.h"
#include "core/prepare/prepare.h"

#include <set>

namespace qs {

/// A draft seen backwards from its values, for finding what several nodes compute together.
class PatternGraph {
public:
    explicit PatternGraph(const GraphDraft& draft)
        : m_draft(draft)
        , m_links(draft)
    {
    }
    const GraphDraft& draft() const { return m_draft; }
    const DraftLinks& links() const { return m_links; }
    /// The node that makes it, where it is of that standard type; its index goes into `used`.
    const DraftNode* made(const std::string& name, std::string_view type, std::set<size_t>& used) const;
    /// The only reader, if it is of that standard type.
    const DraftNode* onlyReader(const std::string& name, std::string_view type, std::set<size_t>& used) const;
    /// A constant of one element.
    std::optional<double> scalar(const std::string& name) const;
    bool isScalar(const std::string& name, double value) const; ///< to 1e-3 of it

private:
    const GraphDraft& m_draft;
    DraftLinks m_links;
};

/// Two inputs in either order: what is left of them when one is `name`, or is that scalar; empty where none is.
std::string otherInput(const DraftNode& node, const std::string& name);
std::string besideScalar(const PatternGraph& graph, const DraftNode& node, double value);

/// Nodes that compute what one node can.
struct FoundPattern {
    std::set<size_t> nodes; ///< indices in the draft
    size_t last = 0; ///< the one whose output is the result
    DraftNode node; ///< name and outputs are those of the last
};

/// Puts the node in the place of each pattern whose inner values nobody else reads. Where `possible` is false nothing
/// is changed and the nodes' names are reported to stay float.
void applyPatterns(GraphDraft& draft, std::vector<FoundPattern> found, bool possible, PassReport& report);

} // namespace qs
