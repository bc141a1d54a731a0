// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lowered/lowered_graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace qs {

/// Codes that stand for a real value.
struct RealCodes {
    ValueId codes, scale, zeroPoint; ///< zeroPoint may be absent
    DType type = DType::Undefined; ///< of the codes as stored
    DType seen = DType::Undefined; ///< after the runtime's shift of int8 pairs to uint8
    std::vector<NodeId> moves; ///< movements between the DequantizeLinear and the value, first to last
    NodeId dequantize;
    int64_t axis = 1; ///< of scales per channel, behind `moves`
};

/// Where the result of an operator becomes codes.
struct CodedResult {
    std::vector<NodeId> nodes; ///< from behind the operator to the QuantizeLinear
    std::vector<NodeId> moves; ///< those of them that move elements
    NodeId quantize;
    ValueId codes, scale, zeroPoint;
    DType type = DType::Undefined, seen = DType::Undefined;
    std::vector<NodeId> twins; ///< further QuantizeLinears with the same parameters
};

/// Scale and zero point of a QuantizeLinear or DequantizeLinear; the zero point may be absent.
struct PairParameters {
    ValueId scale, zeroPoint;
};

/// A graph with QuantizeLinear and DequantizeLinear nodes, read as ONNX Runtime's x64 CPU optimizer reads it: Identity
/// nodes are gone, a DequantizeLinear belongs to each of its readers alone, pairs are handed on through nodes that move
/// elements, int8 pairs without branches become uint8, pairs directly behind each other become one with what both
/// ranges hold. Source: its documentation and measurements of its optimized graphs (tests/parity).
class QdqGraph {
public:
    explicit QdqGraph(const LoweredGraph& lowered);
    const LoweredGraph& lowered() const { return m_lowered; }
    const Graph& graph() const { return m_lowered.graph(); }

    /// A constant of the graph, or one that pairs which became one have.
    const Tensor* constant(ValueId id) const;
    /// The graph's constants that such a constant was made of; empty for others.
    std::vector<ValueId> madeFrom(ValueId id) const;

    /// What the runtime quantizes or dequantizes with at this node.
    PairParameters parameters(NodeId pairNode) const;
    /// They differ from those of the file.
    bool regrids(NodeId pairNode) const;
    /// The node belongs to pairs that became one, some with other parameters than in the file.
    bool isMerged(NodeId pairNode) const { return m_mergedOf.contains(pairNode); }
    /// The codes that a QuantizeLinear behind another one of the same merged pairs repeats; invalid for the first.
    ValueId repeatedCodes(NodeId quantize) const;

    /// The value behind Identity and Dropout nodes, and Casts to the type that is there.
    ValueId source(ValueId id) const;
    /// Readers behind such nodes, without a Shape of known sizes, which the runtime computes when it loads the file.
    std::vector<Use> uses(ValueId id) const;
    /// With it.
    std::vector<Use> usesInFile(ValueId id) const;
    /// Graph output, or read by a subgraph.
    bool escapes(ValueId id) const;
    /// The only reader of a value that does not escape; invalid when there are more.
    NodeId onlyReader(ValueId id) const;

    /// The codes of a real value with a single constant scale and zero point, or of a stored weight.
    std::optional<RealCodes> codesOf(ValueId real) const;
    /// Where the operator's first output is quantized, by way of Relu or Clip that the range makes redundant and of
    /// nodes that move elements; nullopt when it is not.
    std::optional<CodedResult> resultOf(NodeId op) const;
    /// Some reader (behind one Relu or Clip, too) is a QuantizeLinear, to codes of so many bits at most.
    bool meetsQuantizer(NodeId op, size_t mostBits = SIZE_MAX) const;
    /// Both are constants with the same scale and zero point, given explicitly, and the same type.
    bool sameGrid(const RealCodes& a, const CodedResult& b) const;

private:
    /// Pairs directly behind each other, each read by the next one alone.
    struct MergedPairs {
        std::vector<NodeId> nodes; ///< QuantizeLinear, DequantizeLinear, QuantizeLinear, ...
        float scale = 0;
        int64_t zero = 0;
        PairParameters made;
    };
    bool isAlias(const Node& node) const;
    bool isKnownShape(const Node& node) const;
    void mergePairs();
    void mergeAt(NodeId dequantize);
    bool onePair(NodeId quantize, NodeId dequantize) const;
    void makeParameters(MergedPairs& merged);

    /// Shows the readers of a value, past aliases; whether it, or a copy of it, is also read elsewhere
    /// (an output, a body; where too many copies lie behind each other to be told, too).
    bool visitUses(ValueId id, const std::function<void(const Use&)>& visit) const;
    NodeId producer(ValueId id) const { return graph().value(source(id)).producer; }
    /// A node that cannot run says nothing.
    bool dequantizes(NodeId id) const;
    bool quantizes(NodeId id) const;
    bool movesCodes(const Node& node) const;
    /// Where Transposes take the axis of a weight's scales, and one operator alone reads what they make.
    std::optional<int64_t> turnedAxis(const RealCodes& weight, ValueId real) const;
    bool constantGrid(const Node& node) const;
    bool clipIsRedundant(const Node& clip, NodeId quantizer) const;
    /// Type of the codes of a pair after the shift; `edges`: readers of its DequantizeLinears.
    DType shifted(const Node& quantize, size_t edges) const;
    DType seenType(NodeId quantize) const;
    size_t dequantizedEdges(ValueId codes) const;
    std::optional<CodedResult> quantizedAt(ValueId real) const;
    const LoweredGraph& m_lowered;
    std::vector<bool> m_captured; ///< by value
    std::vector<MergedPairs> m_merged;
    std::map<NodeId, size_t> m_mergedOf;
    std::vector<Tensor> m_made; ///< scales and zero points by index behind the graph's values
};

} // namespace qs
