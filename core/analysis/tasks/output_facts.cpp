// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/output_facts.h"

#include "core/base/text/lower_case.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kMostChannels = 4;

/// A picture has one, three or four channels in front or at the end; open sizes do not speak against it.
bool mayBePicture(const Dims& dims)
{
    const auto channels = [](const Dim& d) { return !d.known() || (d.value >= 1 && d.value <= kMostChannels); };
    return dims.size() == 4 && (channels(dims[1]) || channels(dims[3]));
}

} // namespace

ModelFacts::ModelFacts(const Plan& plan, std::span<const ValueId> outputs)
    : m_graph(plan.graph())
{
    for (const ValueId id : outputs) {
        const auto& facts = plan.facts().of(id);
        const Node* node = computedValue(plan, id).node;
        const bool centres
            = node && node->is("NonMaxSuppression") && node->attributes.integer("center_point_box", 0) != 0;
        m_outputs.push_back({ lowerCase(m_graph.value(id).name), facts.dtype, facts.dims, node ? node->opType : "",
            scoreKindOf(plan, id), choiceKindOf(plan, id), centres });
    }
    for (const ValueId id : m_graph.inputs()) {
        const auto dims = plan.facts().of(id).dims;
        if (!dims || !mayBePicture(*dims))
            continue;
        Shape shape;
        for (const Dim& d : *dims)
            shape.push_back(std::max<int64_t>(d.value, 0));
        m_pictures = true;
        m_picture = pictureSize(shape);
        return;
    }
}

bool ModelFacts::hasNode(std::initializer_list<std::string_view> types) const
{
    return std::ranges::any_of(m_graph.nodes(),
        [&](const Node& node) { return std::ranges::find(types, std::string_view(node.opType)) != types.end(); });
}

} // namespace qs
