// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/graph_reader.h"

#include "core/base/work/cancel_scope.h"
#include "core/onnx/read/type_reader.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMaxExpanded = 100'000;

Issue graphIssue(std::string what, std::string node, std::string tensor, std::string remedy = "export the model again")
{
    return { IssueKind::BadInput, std::move(what), {}, std::move(node), std::move(tensor), std::move(remedy) };
}

/// Names that a subgraph defines itself; they hide equal names around it. `called` says how they are called in the
/// graph that is built.
template <class Fn> void defineOwnNames(Scope& scope, const onnx::GraphProto& proto, Fn called)
{
    const auto define = [&](const std::string& name) {
        if (!scope.names.contains(name))
            scope.names.emplace(name, called(name));
    };
    for (const auto& input : proto.input())
        define(input.name());
    for (const auto& tensor : proto.initializer())
        define(tensor.name());
    for (const auto& tensor : proto.sparse_initializer())
        define(tensor.values().name());
    for (const auto& node : proto.node())
        for (const auto& output : node.output())
            if (!output.empty())
                define(output);
}

} // namespace

Result<Graph> GraphReader::readMain(const onnx::ModelProto& model, const OpsetImports& opsets)
{
    if (model.functions_size() > 0) {
        collectNames(model.graph());
        for (const auto& f : model.functions())
            collectNames(f.node());
    }
    Scope scope;
    scope.opsets = &opsets;
    Names captured;
    return graph(model.graph(), scope, captured);
}

Status GraphReader::take(const std::string& name)
{
    if (m_budget.takeName(name))
        return {};
    return graphIssue(
        "its functions and subgraphs expand to far more than the file holds", {}, {}, "inline or simplify them");
}

Result<Graph> GraphReader::graph(const onnx::GraphProto& proto, const Scope& scope, Names& captured)
{
    Building b { GraphBuilder(safeText(proto.name())), {}, {}, {}, {} };
    findRepeated(b, proto, scope);
    for (const auto& tensor : proto.initializer())
        b.constants.insert(scope.resolve(tensor.name()));
    for (const auto& tensor : proto.sparse_initializer())
        b.constants.insert(scope.resolve(tensor.values().name()));
    QS_CHECK(inputs(b, proto, scope));
    QS_CHECK(initializers(b, proto, scope));
    for (const auto& n : proto.node()) {
        if (stopAsked())
            return cancelled();
        if (!b.repeated.superseded.contains(&n))
            QS_CHECK(node(b, n, scope));
    }
    QS_CHECK(outputs(b, proto, scope));
    for (const auto& info : proto.value_info()) {
        const std::string name = scope.resolve(info.name());
        QS_CHECK(take(name));
        declareType(b, name, info.type());
    }
    if (scope.enclosing)
        for (const std::string& name : b.read)
            if (!b.made.contains(name)) {
                b.builder.allowOuter(name);
                captured.push_back(name);
            }
    if (!scope.enclosing && !scope.caller)
        m_valueNotes = valueNotesOf(proto, scope);
    return std::move(b.builder).finish();
}

void GraphReader::findRepeated(Building& b, const onnx::GraphProto& proto, const Scope& scope)
{
    if (scope.enclosing || scope.caller)
        return;
    b.repeated = repeatedConstants(proto);
    for (const std::string& name : b.repeated.defaults)
        b.constants.insert(scope.resolve(name));
    if (!b.repeated.firstName.empty())
        m_warnings.insert("constants are given more than once, first '" + safeText(b.repeated.firstName)
            + "'; the last one of a name counts");
}

Status GraphReader::inputs(Building& b, const onnx::GraphProto& proto, const Scope& scope)
{
    for (const auto& input : proto.input()) {
        const std::string name = scope.resolve(input.name());
        if (name.empty())
            return graphIssue("one of the graph's inputs has no name", {}, {});
        QS_CHECK(take(name));
        if (b.constants.contains(name))
            continue; // up to IR version 3 initializers are listed as inputs, too
        if (!b.made.insert(name).second)
            return graphIssue("is listed twice among the graph's inputs", {}, name);
        const ValueId id = b.builder.value(name);
        ValueType type = valueTypeOf(input.type());
        if (isImpossible(type))
            return graphIssue("its declared shape " + dimsText(*type.dims) + " is too large for any memory", {}, name);
        b.builder.setType(id, std::move(type));
        b.builder.addInput(id);
    }
    return {};
}

Status GraphReader::initializers(Building& b, const onnx::GraphProto& proto, const Scope& scope)
{
    for (const auto& tensor : proto.initializer())
        if (!b.repeated.superseded.contains(&tensor))
            QS_CHECK(initializer(b, scope.resolve(tensor.name()), m_tensors.read(tensor)));
    for (const auto& tensor : proto.sparse_initializer())
        QS_CHECK(initializer(b, scope.resolve(tensor.values().name()), m_tensors.readSparse(tensor)));
    return {};
}

Status GraphReader::initializer(Building& b, const std::string& name, Result<Tensor> tensor)
{
    if (!tensor)
        return std::move(tensor).issue();
    QS_CHECK(take(name));
    if (name.empty()) {
        m_warnings.insert("an initializer without a name is left out");
        return {};
    }
    if (!b.made.insert(name).second)
        return graphIssue("is given twice as an initializer", {}, name);
    if (tensor->valid()) {
        b.builder.setInitializer(b.builder.value(name), std::move(*tensor));
        return {};
    }
    m_warnings.insert("initializer '" + name + "' has an element type that is not known; what reads it cannot run");
    b.builder.allowOuter(name);
    return {};
}

Status GraphReader::outputs(Building& b, const onnx::GraphProto& proto, const Scope& scope)
{
    for (const auto& output : proto.output()) {
        const std::string name = scope.resolve(output.name());
        if (name.empty())
            return graphIssue("one of the graph's outputs has no name", {}, {});
        QS_CHECK(take(name));
        b.read.push_back(name);
        b.builder.addOutput(b.builder.value(name));
        declareType(b, name, output.type());
    }
    return {};
}

void GraphReader::declareType(Building& b, const std::string& name, const onnx::TypeProto& type)
{
    if (!b.made.contains(name) || b.constants.contains(name))
        return; // nothing of that name, or the stored tensor says it better
    ValueType declared = valueTypeOf(type);
    if (isImpossible(declared)) {
        m_warnings.insert("the declared shape of '" + name + "' is too large and ignored");
        declared.dims.reset();
    }
    b.builder.setType(b.builder.value(name), std::move(declared));
}

Status GraphReader::node(Building& b, const onnx::NodeProto& proto, const Scope& scope)
{
    const Scope* body = scope.body();
    if (body && ++m_expanded > kMaxExpanded)
        return graphIssue("its functions expand to more than 100000 nodes", {}, {}, "inline or simplify them");
    std::string name = safeText(proto.name());
    if (!name.empty() && body)
        name = body->prefix + name;
    for (const auto& output : proto.output())
        if (name.empty())
            name = scope.resolve(output);
    if (name.empty())
        name = safeText(proto.op_type());
    if (proto.op_type().empty())
        return graphIssue("has no operator type", name, {});
    if (const Function* f = m_functions.find(proto))
        return call(b, proto, *f, scope, std::move(name));
    return plainNode(b, proto, scope, name);
}

Status GraphReader::plainNode(Building& b, const onnx::NodeProto& proto, const Scope& scope, const std::string& name)
{
    QS_CHECK(take(name));
    Node n;
    n.name = name;
    n.opType = safeText(proto.op_type());
    n.domain = safeDomain(proto.domain());
    n.opset = opsetOf(n.domain, scope);
    n.cameFrom = originOf(proto, scope);
    for (const auto& input : proto.input()) {
        const std::string value = scope.resolve(input);
        QS_CHECK(take(value));
        n.inputs.push_back(b.builder.value(value));
        if (!value.empty())
            b.read.push_back(value);
    }
    for (const auto& output : proto.output()) {
        const std::string value = scope.resolve(output);
        QS_CHECK(take(value));
        n.outputs.push_back(b.builder.value(value));
        if (!value.empty())
            b.made.insert(value);
    }
    Names captured;
    for (const auto& a : proto.attribute())
        if (auto done = attribute(n, a, scope, captured); !done) {
            Issue issue = std::move(done).issue();
            if (issue.node.empty())
                issue.node = name;
            return issue;
        }
    std::ranges::sort(captured);
    captured.erase(std::unique(captured.begin(), captured.end()), captured.end());
    for (const std::string& value : captured) {
        n.captures.push_back(b.builder.value(value));
        b.read.push_back(value);
    }
    b.builder.addNode(std::move(n));
    return {};
}

NodeOriginPtr GraphReader::originOf(const onnx::NodeProto& proto, const Scope& scope) const
{
    NodeOrigin origin { m_notes.of(proto), scope.body() ? scope.body()->calledBy : nullptr };
    const bool known = origin.metadata || origin.derivation;
    return known ? std::make_shared<const NodeOrigin>(std::move(origin)) : nullptr;
}

int GraphReader::opsetOf(const std::string& domain, const Scope& scope)
{
    const auto it = scope.opsets->find(domain);
    if (it != scope.opsets->end())
        return static_cast<int>(std::clamp<int64_t>(it->second, 0, 1'000'000));
    m_warnings.insert("the file uses operators of '" + (domain.empty() ? std::string("ai.onnx") : domain)
        + "' without importing that operator set");
    return 0;
}

Result<std::shared_ptr<const Graph>> GraphReader::subgraph(
    const onnx::GraphProto& proto, const Scope& scope, Names& captured)
{
    Scope inner;
    inner.enclosing = &scope;
    inner.function = scope.function;
    inner.opsets = scope.opsets;
    // In a function's body an equal name may mean a value of the caller.
    const Scope* body = scope.body();
    defineOwnNames(inner, proto, [&](const std::string& name) {
        return body && !name.empty() ? m_names.fresh(body->prefix + safeText(name)) : safeText(name);
    });
    if (m_depth >= kMaxDepth)
        return graphIssue("its subgraphs and functions nest more than 100 levels deep", {}, {}, "simplify the model");
    ++m_depth;
    auto result = graph(proto, inner, captured);
    --m_depth;
    QS_TRY(Graph built, std::move(result));
    return std::make_shared<const Graph>(std::move(built));
}

} // namespace qs
