// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Node of a draft: one of the source graph, perhaps with other names around it, or a new one. Empty names in `inputs`
/// and `outputs` are absent.
struct DraftNode {
    NodeId origin; ///< in the source graph; invalid for a new node
    std::string name, opType, domain;
    std::vector<std::string> inputs, outputs;
    Attributes attributes;
    bool attributesChanged = false; ///< of a node with origin: `attributes` hold instead of the file's
    NodeId namedAfter; ///< of a new node: written without a name where the file gives that one none
    NodeOriginPtr cameFrom = {}; ///< null, of a new node: where `namedAfter` came from

    bool is(std::string_view type, std::string_view dom = {}) const { return opType == type && domain == dom; }
    bool hasInput(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
    bool hasOutput(size_t i) const { return i < outputs.size() && !outputs[i].empty(); }
};

inline OriginOf originOf(const DraftNode& node) { return { node.name, node.opType, node.cameFrom }; }

/// Names that a subgraph reads from the graphs around it.
std::vector<std::string> outerNames(const Graph& body);
/// The subgraphs of a node, those of lists included.
std::vector<std::shared_ptr<const Graph>> subgraphs(const Attributes& attributes);
using BodyFn = std::function<Result<std::shared_ptr<const Graph>>(const std::shared_ptr<const Graph>& body)>;
/// What `made` returns takes the place of each subgraph of the node; the same one stands for no change.
Status replaceSubgraphs(DraftNode& node, const BodyFn& made);

/// An editable copy of a model's main graph, by names: what passes and the quantizer work on. Constants share the
/// storage of the source. A draft is a value; build() makes the immutable model, export writes it with all that the
/// source file says beside it.
class GraphDraft {
public:
    explicit GraphDraft(std::shared_ptr<const Model> source);

    const Model& source() const { return *m_source; }
    std::vector<DraftNode> nodes; ///< in any order; build() sorts
    std::map<std::string, int64_t> opsets;
    std::string producer; ///< "name version"
    std::map<std::string, std::string> metadata;
    std::unordered_map<std::string, ValueType>
        types; ///< declared types of values that are new or changed, and of inputs

    /// Null when there is no initializer of that name.
    const Tensor* constant(const std::string& name) const;
    const std::vector<std::string>& constants() const { return m_order; } ///< in file order, new ones last
    void setConstant(const std::string& name, Tensor tensor);
    void removeConstant(const std::string& name);
    /// As the source has it.
    bool isSourceConstant(const std::string& name) const { return constant(name) && !m_changed.contains(name); }

    bool isInput(const std::string& name) const { return m_inputs.contains(name); }
    bool isOutput(const std::string& name) const { return m_outputs.contains(name); }
    const std::vector<std::string>& inputs() const { return m_inputOrder; }
    const std::vector<std::string>& outputs() const { return m_outputOrder; }
    /// A subgraph reads it.
    bool isCaptured(const std::string& name) const { return m_captured.contains(name); }
    /// Names that the node's subgraphs read: as the source has them, unless the subgraphs are others.
    std::vector<std::string> captures(const DraftNode& node) const;
    /// To be called when nodes with subgraphs came or went.
    void noteCaptures();
    /// Removes constants that no node, subgraph or output reads.
    void dropUnusedConstants();

    /// The changed model. Issues: the draft's names do not fit together.
    Result<std::shared_ptr<const Model>> build() const;

private:
    void allowOuterValues(GraphBuilder& builder) const;
    Node builtNode(const DraftNode& draft, GraphBuilder& builder) const;
    std::shared_ptr<const Model> m_source;
    std::unordered_map<std::string, Tensor> m_constants;
    std::vector<std::string> m_order, m_inputOrder, m_outputOrder;
    std::unordered_set<std::string> m_inputs, m_outputs, m_captured, m_changed;
};

/// Of a subgraph of `outer`, with its file and versions.
GraphDraft draftOfBody(const GraphDraft& outer, const Graph& body);

} // namespace qs
