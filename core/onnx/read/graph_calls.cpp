// SPDX-License-Identifier: GPL-3.0-or-later
// GraphReader: model-local functions, expanded where they are called.
#include "core/onnx/read/graph_reader.h"

#include "core/onnx/read/type_reader.h"

#include <string_view>
#include <unordered_set>

namespace qs {

namespace {

Issue callIssue(std::string what, const std::string& node, std::string remedy = "export the model again")
{
    return { IssueKind::BadInput, std::move(what), {}, node, {}, std::move(remedy) };
}

using InputNames = std::unordered_set<std::string_view>;

InputNames inputsOf(const Function& f) { return { f.proto->input().begin(), f.proto->input().end() }; }

} // namespace

Status GraphReader::call(
    Building& b, const onnx::NodeProto& proto, const Function& f, const Scope& scope, std::string name)
{
    if (m_depth >= kMaxDepth)
        return callIssue("its functions call each other more than 100 levels deep", name, "inline some of them");
    for (const Scope* s = scope.body(); s; s = s->caller ? s->caller->body() : nullptr)
        if (s->function == &f)
            return callIssue("function '" + f.label + "' calls itself", name, "a function must not be recursive");
    if (proto.input_size() > f.proto->input_size() || proto.output_size() > f.proto->output_size())
        return callIssue("gives function '" + f.label + "' more inputs or outputs than it has", name);
    QS_TRY(Scope body, bodyScope(proto, f, scope, name));
    const NodeOriginPtr origin = originOf(proto, scope);
    body.calledBy = std::make_shared<const Derivation>(Derivation { Derivation::Kind::Call,
        { { name, f.label, origin ? origin->metadata : nullptr } }, {}, origin ? origin->derivation : nullptr });
    ++m_depth;
    Status done;
    for (int i = 0; i < f.proto->node_size() && done; ++i)
        done = node(b, f.proto->node(i), body);
    --m_depth;
    QS_CHECK(std::move(done));
    passThrough(b, proto, scope, body);
    const InputNames inputs = inputsOf(f);
    for (const auto& info : f.valueInfos)
        if (body.names.contains(info.name()) && !inputs.contains(info.name()))
            declareType(b, body.resolve(info.name()), info.type());
    return {};
}

/// The names that the body of a call gets, before they are made.
Status GraphReader::takeBody(const onnx::NodeProto& call, const Function& f, const std::string& prefix)
{
    const auto attributes = static_cast<size_t>(call.attribute_size()) + f.defaults.size();
    const auto values = static_cast<size_t>(f.proto->input_size() + f.proto->output_size()) + f.valueInfos.size();
    size_t names = attributes + values + 1, bytes = prefix.size();
    for (const auto& n : f.proto->node())
        for (const auto& output : n.output()) {
            ++names;
            bytes += prefix.size() + output.size();
        }
    if (m_budget.takeNames(names, bytes))
        return {};
    return callIssue("its functions expand to far more than the file holds", prefix.substr(0, prefix.size() - 1),
        "inline or simplify them");
}

Result<Scope> GraphReader::bodyScope(
    const onnx::NodeProto& call, const Function& f, const Scope& scope, const std::string& name)
{
    Scope body;
    body.caller = &scope;
    body.function = &f;
    body.opsets = &f.opsets;
    body.prefix = m_prefixes.fresh(name) + "/";
    QS_CHECK(takeBody(call, f, body.prefix));
    bindAttributes(body, call, scope);
    for (const auto& n : f.proto->node())
        for (const auto& output : n.output())
            if (!output.empty())
                body.names.try_emplace(output, std::string());
    const InputNames inputs = inputsOf(f);
    for (int i = 0; i < f.proto->output_size(); ++i) {
        const std::string& formal = f.proto->output(i);
        const std::string actual = i < call.output_size() ? scope.resolve(call.output(i)) : std::string();
        if (const auto it = body.names.find(formal); it != body.names.end() && it->second.empty())
            it->second = actual;
        else if (it == body.names.end() && !inputs.contains(formal))
            return callIssue("function '" + f.label + "' does not make its output '" + safeText(formal) + "'", name);
    }
    for (auto& [inner, outer] : body.names)
        if (outer.empty())
            outer = m_names.fresh(body.prefix + safeText(inner));
    for (int i = 0; i < f.proto->input_size(); ++i) {
        const std::string actual = i < call.input_size() ? scope.resolve(call.input(i)) : std::string();
        if (!body.names.try_emplace(f.proto->input(i), actual).second)
            return callIssue("function '" + f.label + "' defines '" + safeText(f.proto->input(i)) + "' twice", name);
    }
    return body;
}

void GraphReader::bindAttributes(Scope& body, const onnx::NodeProto& call, const Scope& scope) const
{
    for (const auto& a : call.attribute()) {
        if (a.ref_attr_name().empty()) {
            body.attributes.insert_or_assign(a.name(), BoundAttribute { &a, &scope });
            continue;
        }
        const Scope* outer = scope.body();
        if (!outer)
            continue;
        if (const auto it = outer->attributes.find(a.ref_attr_name()); it != outer->attributes.end())
            body.attributes.insert_or_assign(a.name(), it->second);
    }
    for (const auto& a : body.function->defaults)
        body.attributes.try_emplace(a.name(), BoundAttribute { &a, &scope });
}

/// Outputs that the body does not make under the caller's name: an input handed on, or one value as two outputs.
void GraphReader::passThrough(Building& b, const onnx::NodeProto& call, const Scope& scope, const Scope& body)
{
    for (int i = 0; i < call.output_size(); ++i) {
        const std::string actual = scope.resolve(call.output(i));
        const std::string made = body.resolve(body.function->proto->output(i));
        if (actual.empty() || made == actual)
            continue;
        Node n;
        n.name = body.prefix + "output_" + std::to_string(i);
        n.opType = "Identity";
        n.opset = opsetOf({}, body);
        n.cameFrom = std::make_shared<const NodeOrigin>(NodeOrigin { nullptr, body.calledBy });
        n.inputs = { b.builder.value(made) };
        n.outputs = { b.builder.value(actual) };
        if (!made.empty())
            b.read.push_back(made);
        b.made.insert(actual);
        b.builder.addNode(std::move(n));
    }
}

void GraphReader::collectNames(const onnx::GraphProto& graph)
{
    for (const auto& v : graph.input())
        m_names.insert(safeText(v.name()));
    for (const auto& t : graph.initializer())
        m_names.insert(safeText(t.name()));
    for (const auto& t : graph.sparse_initializer())
        m_names.insert(safeText(t.values().name()));
    collectNames(graph.node());
}

void GraphReader::collectNames(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes)
{
    for (const auto& n : nodes) {
        for (const auto& v : n.output())
            m_names.insert(safeText(v));
        for (const auto& a : n.attribute()) {
            if (a.has_g())
                collectNames(a.g());
            for (const auto& g : a.graphs())
                collectNames(g);
        }
    }
}

} // namespace qs
