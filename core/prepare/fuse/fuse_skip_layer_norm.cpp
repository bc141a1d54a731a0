// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/infer.h"
#include "core/prepare/fuse/pattern_graph.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kSumOutput = 3; ///< of SkipLayerNormalization: the sum, for who else reads it

class SkipFinder {
public:
    SkipFinder(const GraphDraft& draft, const Model& model)
        : m_draft(draft)
        , m_links(draft)
        , m_model(model)
        , m_facts(inferFacts(model.graph))
    {
    }

    /// The sum of two values of one shape [batch, positions, width] that node `norm` normalizes over its last axis;
    /// SIZE_MAX = none.
    size_t sumBefore(size_t norm) const
    {
        const DraftNode& node = m_draft.nodes[norm];
        const int64_t axis = node.attributes.integer("axis", -1);
        const auto outputs = std::ranges::count_if(node.outputs, [](const std::string& o) { return !o.empty(); });
        const size_t at = m_links.producer(node.inputs[0]);
        if (!node.is("LayerNormalization") || outputs != 1 || (axis != -1 && axis != 2) || at == SIZE_MAX)
            return SIZE_MAX;
        const DraftNode& sum = m_draft.nodes[at];
        if (!sum.is("Add") || sum.inputs.size() != 2 || m_draft.isCaptured(sum.outputs[0])
            || m_draft.constant(sum.inputs[0]) || m_draft.constant(sum.inputs[1]))
            return SIZE_MAX;
        return alike(sum.inputs[0], sum.inputs[1]) ? at : SIZE_MAX;
    }

private:
    bool alike(const std::string& a, const std::string& b) const
    {
        const Fact &x = m_facts.of(m_model.graph.findValue(a)), &y = m_facts.of(m_model.graph.findValue(b));
        return x.dims && y.dims && x.dims->size() == 3 && *x.dims == *y.dims && x.dtype == DType::Float32
            && x.dims->back().known();
    }

    const GraphDraft& m_draft;
    const DraftLinks m_links;
    const Model& m_model;
    const InferredFacts m_facts;
};

} // namespace

Result<PassReport> fuseSkipLayerNorm(GraphDraft& draft)
{
    PassReport report { "fuse_skip_layer_norm", 0, {} };
    QS_TRY(const auto model, draft.build());
    std::map<size_t, size_t> sums; // by the node that normalizes
    std::set<size_t> gone;
    {
        const SkipFinder finder(draft, *model);
        for (size_t n = 0; n < draft.nodes.size(); ++n)
            if (const size_t sum = draft.nodes[n].hasInput(0) ? finder.sumBefore(n) : SIZE_MAX;
                sum != SIZE_MAX && gone.insert(sum).second)
                sums.emplace(n, sum);
    }
    if (sums.empty())
        return report;
    const DraftLinks links(draft);
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        if (gone.contains(n))
            continue;
        const auto it = sums.find(n);
        if (it == sums.end()) {
            kept.push_back(draft.nodes[n]);
            continue;
        }
        const DraftNode &norm = draft.nodes[n], &sum = draft.nodes[it->second];
        DraftNode fused { NodeId(), norm.name, "SkipLayerNormalization", kMicrosoftDomain,
            { sum.inputs[0], sum.inputs[1] }, { norm.outputs[0] }, {} };
        fused.inputs.insert(fused.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
        fused.attributes.set("epsilon", norm.attributes.real("epsilon", 1e-5f));
        fused.namedAfter = norm.origin;
        fused.cameFrom = fusedOrigin({ originOf(sum), originOf(norm) }, 1);
        if (!links.readOnce(sum.outputs[0])) {
            fused.outputs.resize(kSumOutput);
            fused.outputs.push_back(sum.outputs[0]);
        }
        kept.push_back(std::move(fused));
    }
    draft.nodes = std::move(kept);
    draft.opsets.try_emplace(kMicrosoftDomain, 1);
    report.changes = sums.size();
    return report;
}

} // namespace qs
