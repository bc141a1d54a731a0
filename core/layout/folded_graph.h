// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/graph/inner_place.h"
#include "core/qdq/quant_view.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qs {

enum class FoldMode {
    Folded, ///< operators only; quantizers become badges on the edges, constants belong to the box that uses them
    Raw, ///< every node of the file
};

/// Constant operand of a box.
struct BoxWeight {
    ValueId value; ///< as the operator reads it (the dequantized value of a quantized weight)
    std::optional<uint32_t> quantizer;
};

/// One box of a drawing.
struct DisplayBox {
    enum class Kind {
        Operator,
        Input,
        Output,
        Group, ///< a closed group: nodes, values and weights of all its boxes
    };
    Kind kind = Kind::Operator;
    std::vector<NodeId> nodes; ///< the operator first, then the hidden nodes that belong to it
    std::vector<ValueId> values; ///< what it makes first, then the hidden nodes' values that carry the same tensor on
    std::vector<BoxWeight> weights;
    std::string title; ///< "Conv conv_1"
    std::string subtitle; ///< "3×3 → 24", else the shape of its first output
    uint32_t group = UINT32_MAX; ///< of the Grouping, for a Group
    InnerPlace inner; ///< of an operator in a body
    std::vector<uint32_t> members; ///< boxes of the drawing without groups that it stands for; empty in that itself
    ValueId mainValue() const { return values.empty() ? ValueId {} : values.front(); }
    NodeId mainNode() const { return nodes.empty() ? NodeId {} : nodes.front(); }
};

struct DisplayEdge {
    uint32_t from = 0, to = 0; ///< boxes
    ValueId value; ///< as the consumer reads it
    std::vector<uint32_t> quantizers; ///< that the value passes on the way, in order
    std::string badge; ///< "s8 .0391"; empty = plain
    bool operator==(const DisplayEdge&) const = default;
};

/// A frame around boxes that lie in an open group.
struct DisplayFrame {
    uint32_t group = 0; ///< of the Grouping
    std::string title;
    uint32_t parent = UINT32_MAX; ///< the frame around it; kNoBox where there is none
};

/// What is drawn of a graph: boxes in a topological order of the file, and edges in the order of their consumers.
struct FoldedGraph {
    std::vector<DisplayBox> boxes;
    std::vector<DisplayEdge> edges;
    std::vector<DisplayFrame> frames; ///< outer ones first
    std::vector<uint32_t> frameOfBox; ///< innermost frame; kNoBox where there is none; empty without frames
    std::vector<uint32_t> boxOfNode; ///< by NodeId; kNoBox where a node is in no box
    std::vector<uint32_t> boxOfValue; ///< by ValueId
    static constexpr uint32_t kNoBox = UINT32_MAX;

    std::optional<uint32_t> box(NodeId id) const { return find(boxOfNode, id.v); }
    std::optional<uint32_t> box(ValueId id) const { return find(boxOfValue, id.v); }

private:
    static std::optional<uint32_t> find(const std::vector<uint32_t>& map, uint32_t index)
    {
        return index < map.size() && map[index] != kNoBox ? std::optional(map[index]) : std::nullopt;
    }
};

/// How many of these boxes are no inputs or outputs of the model.
size_t nodesAmong(const FoldedGraph& graph, std::span<const uint32_t> boxes);

/// Sizes of a value, nullopt when unknown (inferred ones; null function: what the file declares).
using DimsLookup = std::function<std::optional<Dims>(ValueId)>;

FoldedGraph foldGraph(
    const Graph& graph, const QuantView& quant, const ConstantLookup& constants, const DimsLookup& dims, FoldMode mode);

/// "s8 .0391", "u8 z128 .0391", "s8 axis 0" per channel, "dynamic u8".
std::string badgeText(const QuantParams& params, bool dynamic);
/// "u8", "s32", "f16" ...
std::string shortDType(DType type);
/// "Conv conv_1": the type and what is telling in the node's path; at most about 30 characters.
/// The name of the scope `outer` levels above the telling part is put before it.
std::string boxTitle(const Node& node, size_t outer = 0);
/// "MatMul …17…": what of the node's name lies between `head` characters at its start and `tail` at its end, which it
/// shares with others, in whole words.
std::string differingTitle(const Node& node, size_t head, size_t tail);
/// "1×49×40"; "scalar"; "" when unknown.
std::string timesText(const std::optional<Dims>& dims);
/// "3×3 → 24" for convolutions, "64 → 10" for products with a constant, "2×2" for pools, else the output's sizes.
std::string boxSubtitle(const Node& node, const DimsLookup& dims);

} // namespace qs
