// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/repeated_constants.h"

#include <array>
#include <unordered_map>

namespace qs {

namespace {

std::string kindOf(int type, const auto& dims)
{
    std::string kind = std::to_string(type);
    for (const int64_t d : dims)
        kind += ' ' + std::to_string(d);
    return kind;
}

/// Element type and shape of what a Constant node makes; empty when it is no plain tensor.
std::string kindOf(const onnx::NodeProto& node)
{
    using T = onnx::TensorProto;
    if (node.attribute_size() != 1)
        return {};
    const onnx::AttributeProto& a = node.attribute(0);
    const std::array<int64_t, 0> scalar {};
    const auto list = [](int64_t size) { return std::array { size }; };
    if (a.name() == "value" && a.has_t())
        return kindOf(a.t().data_type(), a.t().dims());
    if (a.name() == "value_float")
        return kindOf(T::FLOAT, scalar);
    if (a.name() == "value_int")
        return kindOf(T::INT64, scalar);
    if (a.name() == "value_floats")
        return kindOf(T::FLOAT, list(a.floats_size()));
    if (a.name() == "value_ints")
        return kindOf(T::INT64, list(a.ints_size()));
    return {};
}

bool makesConstant(const onnx::NodeProto& node)
{
    const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
    return node.op_type() == "Constant" && standard && node.output_size() == 1;
}

} // namespace

RepeatedConstants repeatedConstants(const onnx::GraphProto& graph)
{
    struct Given {
        const void* by;
        std::string kind;
    };
    RepeatedConstants found;
    std::unordered_map<std::string, Given> last;
    const auto give = [&](const std::string& name, Given given) {
        if (given.kind.empty())
            return;
        const auto [known, isNew] = last.try_emplace(name, given);
        if (isNew || known->second.kind != given.kind)
            return;
        found.superseded.insert(known->second.by);
        if (found.firstName.empty())
            found.firstName = name;
        known->second = std::move(given);
    };
    for (const auto& tensor : graph.initializer())
        give(tensor.name(), { &tensor, kindOf(tensor.data_type(), tensor.dims()) });
    std::unordered_set<std::string> inputs;
    for (const auto& input : graph.input())
        inputs.insert(input.name());
    for (const auto& node : graph.node()) {
        if (!makesConstant(node))
            continue;
        give(node.output(0), { &node, kindOf(node) });
        if (inputs.contains(node.output(0)))
            found.defaults.insert(node.output(0));
    }
    return found;
}

} // namespace qs
