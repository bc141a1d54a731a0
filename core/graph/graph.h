// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/graph/attribute.h"
#include "core/graph/node_origin.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// Declared or inferred type of a value.
struct ValueType {
    DType dtype = DType::Undefined;
    std::optional<Dims> dims; ///< nullopt = unknown rank
    std::string container; ///< "", or "sequence", "map", "optional" (of which dtype says no more), "sparse_tensor"
    std::shared_ptr<const ValueType> element = {}; ///< of a sequence whose elements have a declared type
};

struct Node {
    std::string name; ///< as in the file, or its first output's name when the file gives none
    std::string opType;
    std::string domain; ///< "" = ai.onnx
    int opset = 0; ///< version of `domain` that the model imports (0 = not imported)
    std::vector<ValueId> inputs; ///< invalid id = absent optional input
    std::vector<ValueId> outputs;
    std::vector<ValueId> captures; ///< values of this graph that its subgraphs read
    Attributes attributes;
    NodeOriginPtr cameFrom; ///< null: the file says nothing of where it came from

    bool is(std::string_view type, std::string_view dom = {}) const { return opType == type && domain == dom; }
    bool hasInput(size_t i) const { return i < inputs.size() && inputs[i].valid(); }
    bool hasOutput(size_t i) const { return i < outputs.size() && outputs[i].valid(); } ///< files lack even the first
};

/// One use of a value: input `slot` of `node`.
struct Use {
    NodeId node;
    size_t slot = 0;
    bool operator==(const Use&) const = default;
};

struct Value {
    std::string name;
    ValueType type;
    std::optional<Tensor> initializer; ///< constant stored in the file
    NodeId producer; ///< invalid for graph inputs and initializers
    std::vector<Use> uses; ///< in node order, by nodes that lead to an output: others make nothing that is wanted
};

/// A directed graph in single assignment form. Nodes are in a topological order; ids are dense indices. Built once by
/// GraphBuilder and immutable afterwards; a changed graph is a new one.
class Graph {
public:
    const std::string& name() const { return m_name; }
    std::span<const Node> nodes() const { return m_nodes; }
    std::span<const Value> values() const { return m_values; }
    const Node& node(NodeId id) const { return m_nodes[id.index()]; }
    const Value& value(ValueId id) const { return m_values[id.index()]; }
    std::span<const ValueId> inputs() const { return m_inputs; } ///< without initializers, in file order
    std::span<const ValueId> outputs() const { return m_outputs; }
    /// Invalid when there is none.
    ValueId findValue(std::string_view name) const;
    NodeId findNode(std::string_view name) const; ///< first node of that name
    bool isInput(ValueId id) const;
    bool isOutput(ValueId id) const;
    /// Some output follows from it (or the graph has none): what does not is left over, and reads nothing.
    bool leadsToOutput(NodeId id) const { return m_leads[id.index()]; }

private:
    friend class GraphBuilder;
    std::string m_name;
    std::vector<Node> m_nodes;
    std::vector<Value> m_values;
    std::vector<ValueId> m_inputs;
    std::vector<ValueId> m_outputs;
    std::unordered_map<std::string, ValueId> m_valueByName;
    std::unordered_map<std::string, NodeId> m_nodeByName;
    std::vector<bool> m_leads; ///< by node
};

/// Collects values and nodes in any order; finish() sorts topologically (keeping file order where possible), fills
/// producers and uses and reports cycles, values nobody makes, and values made twice.
class GraphBuilder {
public:
    explicit GraphBuilder(std::string name = {});
    /// Id of the value of that name, made when new. An empty name gives an invalid id.
    ValueId value(std::string_view name);
    void setType(ValueId id, ValueType type);
    void setInitializer(ValueId id, Tensor tensor);
    void addInput(ValueId id);
    void addOutput(ValueId id);
    NodeId addNode(Node node);
    /// Values of an enclosing graph that a subgraph may read without producing them.
    void allowOuter(std::string_view name);
    Result<Graph> finish() &&;

private:
    Status bindProducers();
    void reorder(const std::vector<uint32_t>& order);
    std::vector<bool> leadingToOutputs() const;
    void linkUses();
    Graph m_graph;
    std::vector<std::string> m_outer;
};

struct ValueNotes;

/// A whole model file: the main graph (functions already expanded) and what describes it.
struct Model {
    std::string path;
    Graph graph;
    int64_t irVersion = 0;
    std::string producer; ///< "pytorch 2.13.0"
    std::map<std::string, int64_t> opsetImports;
    std::map<std::string, std::string> metadata;
    size_t fileNodes = 0; ///< top-level nodes of the file before functions were expanded
    bool hasFunctions = false; ///< the file has functions, which were expanded
    std::shared_ptr<const ValueNotes> valueNotes; ///< of the main graph (core/graph/value_notes.h); null: none
    uint64_t graphBytes = 0; ///< about what the graph takes in memory beside its weights; 0: not known
    std::vector<std::string> warnings; ///< oddities that did not prevent opening
};

} // namespace qs
