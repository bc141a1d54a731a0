// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/integer_units.h"

#include "core/engine/fuse/unit_builder.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// Values between the nodes of the units that nobody else reads: they are not made. Constants are there anyway.
void hideInnerValues(const QdqGraph& qdq, std::vector<FusedUnit>& units)
{
    const Graph& graph = qdq.graph();
    std::set<NodeId> inside;
    std::set<ValueId> seen;
    for (const FusedUnit& unit : units) {
        inside.insert(unit.nodes.begin(), unit.nodes.end());
        seen.insert(unit.inputs.begin(), unit.inputs.end());
        const auto& outputs = graph.node(unit.nodes.back()).outputs;
        seen.insert(outputs.begin(), outputs.end());
    }
    for (FusedUnit& unit : units)
        for (NodeId id : unit.nodes)
            for (ValueId out : graph.node(id).outputs)
                if (out.valid() && !qdq.constant(out) && !seen.contains(out) && !qdq.escapes(out)
                    && std::ranges::all_of(
                        qdq.usesInFile(out), [&](const Use& use) { return inside.contains(use.node); }))
                    unit.inner.push_back(out);
}

} // namespace

std::vector<FusedUnit> integerUnits(const LoweredGraph& lowered, const PlanOptions& options)
{
    const QdqGraph qdq(lowered);
    std::vector<FusedUnit> units;
    std::set<NodeId> ends;
    for (size_t n = 0; n < lowered.graph().nodes().size(); ++n) {
        const LoweredGraph::Step& step = lowered.step(NodeId(n));
        if (!step.lowered || step.folded || ends.contains(NodeId(n)))
            continue;
        for (FusedUnit& unit : UnitBuilder(qdq, options, NodeId(n)).build()) {
            ends.insert(unit.nodes.back());
            units.push_back(std::move(unit));
        }
    }
    hideInnerValues(qdq, units);
    return units;
}

std::vector<bool> nodesAddingPairs(const LoweredGraph& lowered)
{
    PlanOptions options;
    options.profile = ArithmeticProfile::IntegerAvx2;
    std::vector<bool> found(lowered.graph().nodes().size(), false);
    for (const FusedUnit& unit : integerUnits(lowered, options))
        if (unit.lowered.countsPairs)
            found[unit.node.index()] = true;
    return found;
}

std::vector<bool> nodesOnCodes(const LoweredGraph& lowered)
{
    PlanOptions options;
    options.profile = ArithmeticProfile::Integer;
    std::vector<bool> found(lowered.graph().nodes().size(), false);
    const auto isCodes
        = [&](ValueId id) { return id.valid() && !lowered.constant(id) && isInteger(lowered.facts().of(id).dtype); };
    // Constants that the file leaves in float become codes when ONNX Runtime loads it: the file has none there.
    const auto isFloatConstant = [&](ValueId id) {
        return id.valid() && !lowered.graph().value(id).producer.valid() && lowered.constant(id)
            && isFloat(lowered.facts().of(id).dtype);
    };
    for (const FusedUnit& unit : integerUnits(lowered, options)) {
        const Node& node = lowered.graph().node(unit.node);
        const bool stored = node.inputs.size() < 2 || !isFloatConstant(node.inputs[1]);
        if (stored && !isDequantizeLinear(node) && !isQuantizeLinear(node) && std::ranges::any_of(unit.inputs, isCodes))
            for (const NodeId inner : unit.nodes)
                found[inner.index()] = true;
    }
    return found;
}

} // namespace qs
