// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_view.h"

#include "core/graph/domains.h"
#include "core/graph/own_domain.h"
#include "core/qdq/quant_scan.h"

#include <algorithm>

namespace qs {

namespace {

bool isIntegerProduct(const Node& node)
{
    return node.domain.empty() && (node.opType == "ConvInteger" || node.opType == "MatMulInteger");
}

/// Nodes that may stand between Q and DQ without changing what a code means.
bool passesCodes(const Node& node)
{
    return node.domain.empty() && (node.opType == "Cast" || node.opType == "Clip" || node.opType == "Identity");
}

void visit(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    if (!saysItsCodes(node) || quantizationFault(node, scan.known))
        return;
    // What follows from constants alone may still be rounded to codes at run, as any activation is.
    const bool dynamic = node.is("DynamicQuantizeLinear") || isIntegerProduct(node);
    const bool constant = !dynamic && std::ranges::all_of(node.outputs, [&](ValueId out) {
        return !out.valid() || scan.constants(out) != nullptr;
    });
    if (isQuantizeLinear(node)) {
        scanQuantizeLinear(scan, id);
    } else if (isDequantizeLinear(node)) {
        scanDequantizeLinear(scan, id);
    } else if (constant) {
        if (passesCodes(node) && node.hasInput(0))
            scanPassedCodes(scan, id);
        scan.plumbing[id.index()] = true;
    } else if (node.is("DynamicQuantizeLinear")) {
        scanDynamicQuantizeLinear(scan, id);
    } else if (const auto signature = qlinearSignature(node)) {
        scanOperatorOnCodes(scan, id, *signature);
    } else if (auto weights = blockWeights(node, scan.constants); !weights.empty()) {
        for (BlockWeight& weight : weights)
            scanBlockWeight(scan, node, std::move(weight));
    } else if (node.is("DynamicQuantizeMatMul", kMicrosoftDomain)) {
        scanDynamicProduct(scan, node);
    } else if (node.is(kDequantizeCache, kOwnDomain)) {
        scanReadCache(scan, id);
    } else if (node.is("DynamicQuantizeLSTM", kMicrosoftDomain)) {
        scanDynamicLstm(scan, node);
    } else if (isIntegerProduct(node)) {
        scanIntegerProduct(scan, node);
    } else if (passesCodes(node) && node.hasInput(0)) {
        scanPassedCodes(scan, id);
    } else if (keepsParams(node)) {
        scanMovedCodes(scan, id);
    } else if (node.is("Concat")) {
        scanJoinedCodes(scan, id);
    }
}

std::vector<QuantUnit> unitsOf(const QuantScan& scan)
{
    std::vector<QuantUnit> units;
    for (size_t n = 0; n < scan.graph.nodes().size(); ++n) {
        if (scan.plumbing[n])
            continue;
        const Node& node = scan.graph.nodes()[n];
        QuantUnit unit { NodeId(n), {}, {} };
        for (ValueId in : node.inputs)
            if (in.valid())
                if (const auto q = scan.quantizers.ofQuantized(in))
                    unit.inputs.push_back(*q);
        std::ranges::stable_sort(unit.inputs, {}, [&](uint32_t q) { return scan.quantizers.all()[q].role; });
        for (ValueId out : node.outputs)
            if (out.valid())
                if (const auto q = scan.quantizers.ofValue(out))
                    unit.outputs.push_back(*q);
        if (!unit.inputs.empty())
            units.push_back(std::move(unit));
    }
    return units;
}

} // namespace

QuantView QuantView::of(const Graph& graph, const ConstantLookup& constants)
{
    QuantScan scan(graph, constants);
    for (size_t n = 0; n < graph.nodes().size(); ++n)
        visit(scan, NodeId(n));
    for (NodeId id : scan.scaling)
        scan.plumbing[id.index()] = true;
    QuantView view;
    view.m_units = unitsOf(scan);
    view.m_form = quantFormOf(graph, scan.evidence, !scan.quantizers.all().empty());
    view.m_quantizers = std::move(scan.quantizers);
    view.m_scaledSums = std::move(scan.scaledSums);
    view.m_plumbing = std::move(scan.plumbing);
    return view;
}

ValueId QuantView::scaledSums(ValueId sums) const
{
    const auto it = m_scaledSums.find(sums);
    return it == m_scaledSums.end() ? ValueId() : it->second;
}

} // namespace qs
