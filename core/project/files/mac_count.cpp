// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/mac_count.h"

#include "core/engine/fuse/integer_units.h"
#include "core/ops/macs.h"
#include "core/qdq/qlinear_signature.h"

namespace qs {

namespace {

/// Sizes of the graph inputs as the samples had them.
OuterFacts inputSizes(const Comparison& comparison)
{
    OuterFacts sizes;
    for (const ActivationRow& row : comparison.activations)
        if (!row.floatNode.valid() && !row.shape.empty())
            sizes.emplace(row.name, Fact { DType::Float32, toDims(row.shape), {} });
    return sizes;
}

/// Both factors are codes, in whatever form the file says it; of 8 bits between Q and DQ those that ONNX Runtime makes
/// an operator on codes of.
bool computesOnCodes(const LoweredGraph& lowered, const Node& node, bool fused)
{
    const Graph& graph = lowered.graph();
    const std::string& type = node.opType;
    if (qlinearSignature(node) || type == "ConvInteger" || type == "MatMulInteger" || type == "DynamicQuantizeMatMul"
        || type == "DynamicQuantizeLSTM")
        return true;
    if (type == "MatMulNBits") // weights in blocks; the kernel makes codes of the other factor at level 4 alone
        return node.attributes.integer("accuracy_level", 0) == 4;
    bool bytes = true;
    const auto dequantized = [&](size_t i) {
        const NodeId by = node.hasInput(i) ? graph.value(node.inputs[i]).producer : NodeId();
        if (!by.valid() || !isDequantizeLinear(graph.node(by)) || !graph.node(by).hasInput(0))
            return false;
        const DType codes = lowered.facts().of(graph.node(by).inputs[0]).dtype;
        bytes = bytes && (codes == DType::Int8 || codes == DType::UInt8);
        return true;
    };
    return fused || (dequantized(0) && dequantized(1) && !bytes);
}

/// Adds up to nothing where a part is unknown.
struct Sum {
    int64_t total = 0;
    bool known = true;
    void add(const std::optional<int64_t>& macs)
    {
        known = known && macs && !__builtin_add_overflow(total, *macs, &total);
    }
};

MacCount counted(const LoweredGraph& lowered, const InferredFacts& facts)
{
    const std::vector<bool> fused = nodesOnCodes(lowered);
    Sum all;
    int64_t onCodes = 0;
    for (size_t n = 0; n < fused.size(); ++n) {
        const Node& node = lowered.graph().nodes()[n];
        const auto macs = nodeMacs(node, facts);
        all.add(macs);
        if (macs.value_or(0) > 0 && computesOnCodes(lowered, node, fused[n]))
            onCodes += *macs;
    }
    MacCount count;
    if (all.known)
        count.all = all.total;
    if (all.known && all.total > 0)
        count.codeShare = double(onCodes) / double(all.total);
    return count;
}

} // namespace

MacCount macCount(const LoadedModel& model, const Comparison* comparison)
{
    MacCount count = counted(*model.plan, model.plan->facts());
    if ((count.all && count.codeShare) || !comparison)
        return count;
    const MacCount ofSamples = counted(*model.plan, inferFacts(model.graph(), inputSizes(*comparison)));
    if (!count.all)
        count.all = ofSamples.all;
    if (!count.codeShare)
        count.codeShare = ofSamples.codeShare;
    return count;
}

} // namespace qs
