// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/qdq/block_weights.h"
#include "core/qdq/qlinear_signature.h"
#include "core/qdq/quant_form.h"
#include "core/qdq/quantization_fault.h"
#include "core/qdq/quantizer_index.h"

#include <optional>
#include <unordered_map>
#include <vector>

/// What QuantView::of() finds out in one walk over the nodes, and what each kind of node adds to it.
namespace qs {

struct QuantScan {
    QuantScan(const Graph& g, const ConstantLookup& c)
        : graph(g)
        , constants(c)
        , known(knownFrom(g, c))
        , plumbing(g.nodes().size(), false)
    {
    }
    /// Null when the node does not have the input (-1: none), or it depends on data.
    const Tensor* constantInput(const Node& node, int i) const
    {
        return i >= 0 && node.hasInput(size_t(i)) ? constants(node.inputs[size_t(i)]) : nullptr;
    }

    const Graph& graph;
    const ConstantLookup& constants;
    const KnownFact known;
    QuantizerIndex quantizers;
    std::vector<bool> plumbing; ///< by node, see QuantView::isPlumbing()
    std::vector<NodeId> scaling; ///< nodes that scale the sums of integer products: plumbing, too
    std::unordered_map<ValueId, ValueId> scaledSums; ///< see QuantView::scaledSums()
    FormEvidence evidence;
};

/// False for a malformed node without the input and output that say which codes it is about.
bool saysItsCodes(const Node& node);

/// Fills scale and zero point from constants; false when the scale is computed from data.
bool readParams(
    const QuantScan& scan, const Node& node, int scaleInput, int zeroPointInput, DType codes, QuantParams& params);

/// Axis and block size of Q/DQ with several scales; `rank`: of what they are of, 0 where it is not known.
void readAxis(const Node& node, size_t rank, QuantParams& params);
size_t rankOf(const QuantScan& scan, ValueId id);

/// Where a Clip stands between codes and their readers, the codes that it leaves; nothing where it leaves all.
void keepClipped(const QuantScan& scan, ValueId clipped, QuantParams& params);

void scanQuantizeLinear(QuantScan& scan, NodeId id);
void scanDequantizeLinear(QuantScan& scan, NodeId id);
/// `codes` stand in a stored table, and operators that only move elements (Gather, Transpose, Slice ...) bring them
/// here: that is a weight by itself, and what stands between has its scale. Their type; nothing where they do not.
std::optional<DType> scanMovedTable(QuantScan& scan, ValueId codes, const QuantParams& params);
void scanDynamicQuantizeLinear(QuantScan& scan, NodeId id);
/// Cast, Clip or Identity between Q and DQ: the same quantizer under a new name.
void scanPassedCodes(QuantScan& scan, NodeId id);
/// MaxPool, Reshape ... on codes: a tensor of its own with its input's parameters.
void scanMovedCodes(QuantScan& scan, NodeId id);
/// Concat of codes: the same where all inputs have one scale and zero point.
void scanJoinedCodes(QuantScan& scan, NodeId id);

void scanOperatorOnCodes(QuantScan& scan, NodeId id, const QLinearSignature& signature);
/// A stored weight of a node that multiplies floats by it.
void scanBlockWeight(QuantScan& scan, const Node& node, BlockWeight weight);
/// DynamicQuantizeMatMul: floats, quantized inside, by a stored weight.
void scanDynamicProduct(QuantScan& scan, const Node& node);
/// ConvInteger / MatMulInteger -> Cast -> Mul(x_scale * w_scale): the weight's scale sits in that product.
void scanIntegerProduct(QuantScan& scan, const Node& node);
/// Our own DequantizeCache behind an attention that stores codes.
void scanReadCache(QuantScan& scan, NodeId id);
/// DynamicQuantizeLSTM: both of its stored weights.
void scanDynamicLstm(QuantScan& scan, const Node& node);

} // namespace qs
