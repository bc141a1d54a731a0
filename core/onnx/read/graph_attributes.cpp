// SPDX-License-Identifier: GPL-3.0-or-later
// GraphReader: attributes of nodes.
#include "core/onnx/read/graph_reader.h"

namespace qs {

namespace {

using Type = onnx::AttributeProto;

/// The declared kind, or the one of the field that is set (the oldest exporters declared none).
Type::AttributeType kindOf(const onnx::AttributeProto& a)
{
    if (a.type() != Type::UNDEFINED)
        return a.type();
    return a.has_f()              ? Type::FLOAT
        : a.has_i()               ? Type::INT
        : a.has_s()               ? Type::STRING
        : a.has_t()               ? Type::TENSOR
        : a.has_g()               ? Type::GRAPH
        : a.has_sparse_tensor()   ? Type::SPARSE_TENSOR
        : a.has_tp()              ? Type::TYPE_PROTO
        : a.floats_size()         ? Type::FLOATS
        : a.ints_size()           ? Type::INTS
        : a.strings_size()        ? Type::STRINGS
        : a.tensors_size()        ? Type::TENSORS
        : a.graphs_size()         ? Type::GRAPHS
        : a.sparse_tensors_size() ? Type::SPARSE_TENSORS
                                  : Type::UNDEFINED;
}

} // namespace

Status GraphReader::attribute(Node& node, const onnx::AttributeProto& proto, const Scope& scope, Names& captured)
{
    BoundAttribute bound { &proto, &scope };
    if (!proto.ref_attr_name().empty()) {
        const Scope* body = scope.body();
        if (!body)
            return badInput("its attribute '" + safeText(proto.name())
                    + "' refers to an attribute of a function, but it is in no function",
                {}, "export the model again");
        const auto it = body->attributes.find(proto.ref_attr_name());
        if (it == body->attributes.end())
            return {}; // the call leaves it out, so the operator's own default holds
        bound = it->second;
    }
    QS_TRY(AttributeValue value, attributeValue(*bound.proto, *bound.scope, captured));
    std::string name = safeText(proto.name());
    if (name == "sparse_value" && node.is("Constant") && std::holds_alternative<Tensor>(value))
        name = "value"; // a sparse constant was made dense
    node.attributes.set(std::move(name), std::move(value));
    return {};
}

Result<AttributeValue> GraphReader::attributeValue(
    const onnx::AttributeProto& proto, const Scope& scope, Names& captured)
{
    switch (kindOf(proto)) {
    case Type::FLOAT:
        return AttributeValue(proto.f());
    case Type::INT:
        return AttributeValue(proto.i());
    case Type::STRING:
        return AttributeValue(proto.s());
    case Type::FLOATS:
        return AttributeValue(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case Type::INTS:
        return AttributeValue(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case Type::STRINGS:
        return AttributeValue(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case Type::TENSOR: {
        QS_TRY(Tensor tensor, attributeTensor(proto, proto.t()));
        return tensor.valid() ? AttributeValue(std::move(tensor)) : AttributeValue(OpaqueAttribute { "tensor" });
    }
    case Type::TENSORS: {
        std::vector<Tensor> tensors;
        for (const auto& t : proto.tensors()) {
            QS_TRY(Tensor tensor, attributeTensor(proto, t));
            if (!tensor.valid())
                return AttributeValue(OpaqueAttribute { "tensors" });
            tensors.push_back(std::move(tensor));
        }
        return AttributeValue(std::move(tensors));
    }
    case Type::GRAPH: {
        QS_TRY(auto graph, subgraph(proto.g(), scope, captured));
        return AttributeValue(std::move(graph));
    }
    case Type::GRAPHS: {
        std::vector<std::shared_ptr<const Graph>> graphs;
        for (const auto& g : proto.graphs()) {
            QS_TRY(auto graph, subgraph(g, scope, captured));
            graphs.push_back(std::move(graph));
        }
        return AttributeValue(std::move(graphs));
    }
    case Type::SPARSE_TENSOR: {
        QS_TRY(Tensor tensor, m_tensors.readSparse(proto.sparse_tensor()));
        return AttributeValue(std::move(tensor));
    }
    case Type::SPARSE_TENSORS:
        return AttributeValue(OpaqueAttribute { "sparse_tensors" });
    case Type::TYPE_PROTO:
    case Type::TYPE_PROTOS:
        return AttributeValue(OpaqueAttribute { "type" });
    default:
        return AttributeValue(OpaqueAttribute { "unknown" });
    }
}

Result<Tensor> GraphReader::attributeTensor(const onnx::AttributeProto& attribute, const onnx::TensorProto& proto)
{
    auto tensor = m_tensors.read(proto);
    if (tensor)
        return tensor;
    Issue issue = std::move(tensor).issue();
    if (issue.tensor.empty())
        issue.tensor = safeText(attribute.name());
    return issue;
}

} // namespace qs
