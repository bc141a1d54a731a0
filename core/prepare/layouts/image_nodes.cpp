// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/layouts/image_nodes.h"

#include "core/graph/domains.h"

#include <algorithm>
#include <array>

namespace qs {

size_t ImageFacts::rank(const std::string& name) const
{
    const ValueId id = m_plan.graph().findValue(name);
    const auto dims = id.valid() ? m_plan.facts().of(id).dims : std::nullopt;
    return dims ? dims->size() : 0;
}

int64_t ImageFacts::size(const std::string& name, size_t axis) const
{
    const ValueId id = m_plan.graph().findValue(name);
    const auto dims = id.valid() ? m_plan.facts().of(id).dims : std::nullopt;
    return dims && axis < dims->size() && (*dims)[axis].known() ? (*dims)[axis].value : -1;
}

DType ImageFacts::dtype(const std::string& name) const
{
    const ValueId id = m_plan.graph().findValue(name);
    return id.valid() ? m_plan.facts().of(id).dtype : DType::Undefined;
}

bool ImageFacts::isNumber(const std::string& name) const
{
    if (const Tensor* constant = m_draft.constant(name))
        return constant->count() == 1;
    const ValueId id = m_plan.graph().findValue(name);
    const auto dims = id.valid() ? m_plan.facts().of(id).dims : std::nullopt;
    return dims && std::ranges::all_of(*dims, [](const Dim& d) { return d.known() && d.value == 1; });
}

std::vector<size_t> ImageFacts::images(const DraftNode& node) const
{
    std::vector<size_t> found;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const std::string& in = node.inputs[i];
        if (in.empty() || isNumber(in))
            continue;
        const ValueId id = m_plan.graph().findValue(in);
        if (!id.valid() || m_plan.constant(id) || rank(in) != rank(node.outputs[0]))
            return {};
        found.push_back(i);
    }
    return found;
}

std::vector<int64_t> toChannelsLast(size_t rank)
{
    std::vector<int64_t> order { 0 };
    for (size_t i = 2; i < rank; ++i)
        order.push_back(int64_t(i));
    order.push_back(1);
    return order;
}

std::vector<int64_t> toChannelsSecond(size_t rank)
{
    std::vector<int64_t> order { 0, int64_t(rank) - 1 };
    for (size_t i = 1; i + 1 < rank; ++i)
        order.push_back(int64_t(i));
    return order;
}

bool takesAnyOrder(const DraftNode& node)
{
    static constexpr std::array<std::string_view, 29> types { "Abs", "Add", "Cast", "Clip", "Concat",
        "DequantizeLinear", "Div", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu",
        "Max", "Min", "Mish", "Mul", "Neg", "Pow", "QuantizeLinear", "Relu", "Sigmoid", "Softplus", "Sqrt", "Sub",
        "Sum", "Tanh" };
    static constexpr std::array<std::string_view, 9> ofMicrosoft { "DequantizeLinear", "Gelu", "QLinearAdd",
        "QLinearConcat", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QuantizeLinear", "QuickGelu" };
    return node.domain.empty()
        ? std::ranges::find(types, node.opType) != types.end()
        : node.domain == kMicrosoftDomain && std::ranges::find(ofMicrosoft, node.opType) != ofMicrosoft.end();
}

} // namespace qs
