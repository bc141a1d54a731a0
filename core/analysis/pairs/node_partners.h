// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <optional>
#include <unordered_map>

namespace qs {

/// Which node of the float model a node of the quantized file stands for, by the alignment's pairs and else by the
/// names that quantizers give.
class NodePartners {
public:
    explicit NodePartners(const ComparePair& pair);
    NodeId of(NodeId quantNode) const; ///< invalid where none is known
    const std::unordered_map<NodeId, NodeId>& all() const { return m_floatNode; } ///< by node of the quantized file

    /// The constant that the float partner reads in `slot`; null where there is no partner, or none.
    const Tensor* constant(NodeId quantNode, size_t slot) const;
    /// The constant matrix [depth, columns], float32, of the MatMul or Gemm that a product with a packed weight stands
    /// for; nothing where there is none of these sizes.
    std::optional<Tensor> matrix(NodeId quantNode, int64_t depth, int64_t columns) const;

private:
    void add(NodeId quantNode, NodeId floatNode);
    NodeId byName(const Node& node) const;
    const ComparePair& m_pair;
    const Graph &m_float, &m_quant;
    std::unordered_map<NodeId, NodeId> m_floatNode;
};

} // namespace qs
