// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/node_partners.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

enum class AttributeKind {
    Numbers, ///< factors, epsilons, windows, ways to turn: another one is another function
    Shapes, ///< axes, kernels, paddings: where a file folds a node into another they differ in one function, too
};

/// A constant that a node of the float model reads, and what the quantized file has in its place: as many elements, or
/// one for all.
struct OtherConstant {
    NodeId floatNode;
    size_t slot = 0;
    Tensor value;
};

/// A node of the quantized file that computes another function than the float model's.
struct FunctionDifference {
    std::string text; ///< a sentence without a full stop
    NodeId floatNode {}, quantNode {}; ///< invalid where more than one node does it
    std::string attribute {}; ///< by it alone; empty: by its operator, or by a constant
    std::vector<OtherConstant> constants {}; ///< it is another function by these alone, in all places
    std::vector<int64_t> integers {}; ///< what the attribute is in the float model's place; empty: as in the other file
};

/// The node of the float model that a node of the quantized file stands for: of pairs, by its name, or as the only one
/// of its kind that reads a paired value.
class FunctionPartners {
public:
    explicit FunctionPartners(const ComparePair& pair);
    NodeId of(NodeId quantNode) const; ///< of the same operator
    NodeId ofAny(NodeId quantNode) const; ///< it may be another operator
private:
    void addReaders(const std::vector<Use>& floatUses, const std::vector<ValueId>& quantValues);
    const ComparePair& m_pair;
    const NodePartners m_partners;
    std::unordered_map<NodeId, NodeId> m_any; ///< float node by quantized node, by pairs of what they make
    std::unordered_map<NodeId, NodeId> m_readers; ///< the same, by pairs of what they read
};

/// Attributes, and constants that take the place of such, in which nodes of the quantized file are not as the float
/// model's nodes that they stand for. `floatNode`: only of those that stand for this one; invalid: of all.
std::vector<FunctionDifference> attributeDifferences(
    const ComparePair& pair, AttributeKind kind, NodeId floatNode = {});
/// Sentences for those that stand for this node; none for an invalid one.
std::vector<std::string> settingsAt(const ComparePair& pair, NodeId floatNode);

} // namespace qs
