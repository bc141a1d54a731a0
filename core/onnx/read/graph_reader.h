// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/graph/value_notes.h"
#include "core/onnx/read/notes_reader.h"
#include "core/onnx/read/reading_budget.h"
#include "core/onnx/read/repeated_constants.h"
#include "core/onnx/read/scope.h"
#include "core/onnx/read/taken_names.h"
#include "core/onnx/read/tensor_reader.h"

#include <set>
#include <unordered_set>

namespace qs {

/// Builds graphs of GraphProtos: expands function calls, reads subgraphs, collects warnings. Issues leave out the file.
class GraphReader {
public:
    GraphReader(TensorReader& tensors, const FunctionTable& functions, ReadingBudget& budget)
        : m_tensors(tensors)
        , m_functions(functions)
        , m_budget(budget)
        , m_notes(tensors)
    {
    }
    Result<Graph> readMain(const onnx::ModelProto& model, const OpsetImports& opsets);
    /// Of the main graph that was read; null where the file says nothing of its values.
    std::shared_ptr<const ValueNotes> valueNotes() const { return m_valueNotes; }
    std::vector<std::string> takeWarnings() { return { m_warnings.begin(), m_warnings.end() }; }

private:
    static constexpr int kMaxDepth = 100;

    /// A graph under construction.
    struct Building {
        GraphBuilder builder;
        std::unordered_set<std::string> made; ///< inputs, initializers and node outputs so far
        std::unordered_set<std::string> constants; ///< the initializers among them
        std::vector<std::string> read; ///< names its nodes, their subgraphs and its outputs read
        RepeatedConstants repeated; ///< of a main graph
    };
    using Names = std::vector<std::string>;

    Result<Graph> graph(const onnx::GraphProto& proto, const Scope& scope, Names& captured);
    void findRepeated(Building& b, const onnx::GraphProto& proto, const Scope& scope);
    Status inputs(Building& b, const onnx::GraphProto& proto, const Scope& scope);
    Status initializers(Building& b, const onnx::GraphProto& proto, const Scope& scope);
    Status initializer(Building& b, const std::string& name, Result<Tensor> tensor);
    Status outputs(Building& b, const onnx::GraphProto& proto, const Scope& scope);
    void declareType(Building& b, const std::string& name, const onnx::TypeProto& type);

    Status node(Building& b, const onnx::NodeProto& proto, const Scope& scope);
    Status plainNode(Building& b, const onnx::NodeProto& proto, const Scope& scope, const std::string& name);
    NodeOriginPtr originOf(const onnx::NodeProto& proto, const Scope& scope) const;
    int opsetOf(const std::string& domain, const Scope& scope);

    Status call(Building& b, const onnx::NodeProto& proto, const Function& f, const Scope& scope, std::string name);
    Result<Scope> bodyScope(
        const onnx::NodeProto& call, const Function& f, const Scope& scope, const std::string& name);
    void bindAttributes(Scope& body, const onnx::NodeProto& call, const Scope& scope) const;
    void passThrough(Building& b, const onnx::NodeProto& call, const Scope& scope, const Scope& body);

    Status attribute(Node& node, const onnx::AttributeProto& proto, const Scope& scope, Names& captured);
    Result<AttributeValue> attributeValue(const onnx::AttributeProto& proto, const Scope& scope, Names& captured);
    Result<Tensor> attributeTensor(const onnx::AttributeProto& attribute, const onnx::TensorProto& proto);
    Result<std::shared_ptr<const Graph>> subgraph(const onnx::GraphProto& proto, const Scope& scope, Names& captured);

    void collectNames(const onnx::GraphProto& graph);
    void collectNames(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
    Status take(const std::string& name);
    Status takeBody(const onnx::NodeProto& call, const Function& f, const std::string& prefix);

    TensorReader& m_tensors;
    const FunctionTable& m_functions;
    ReadingBudget& m_budget;
    const NotesReader m_notes;
    TakenNames m_names; ///< all value names of a file with functions, and those made up
    TakenNames m_prefixes; ///< of the calls expanded so far
    std::set<std::string> m_warnings;
    std::shared_ptr<const ValueNotes> m_valueNotes;
    size_t m_expanded = 0; ///< nodes and calls made by expanding functions
    int m_depth = 0; ///< subgraphs and calls being read
};

} // namespace qs
