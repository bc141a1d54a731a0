// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/carry.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Result<std::vector<CarryLink>> findCarry(
    const Plan& plan, const std::vector<std::pair<std::string, std::string>>& names)
{
    std::vector<CarryLink> links;
    for (const auto& [out, in] : names) {
        const ValueId o = plan.graph().findValue(out), i = plan.graph().findValue(in);
        if (!o.valid() || !i.valid() || !plan.graph().isInput(i))
            return badInput("has no output '" + out + "' with an input '" + in + "' to carry it to", plan.model().path,
                "give --carry OUTPUT=INPUT with names of this model");
        links.push_back({ o, i });
    }
    return links;
}

Tensor initialState(const Plan& plan, const CarryLink& link)
{
    const ValueType& type = plan.graph().value(link.input).type;
    Shape shape;
    for (const Dim& d : type.dims.value_or(Dims {}))
        shape.push_back(d.known() ? d.value : 1);
    Tensor zero = Tensor::allocate(type.dtype, shape);
    std::fill_n(zero.fill<std::byte>().data(), zero.byteCount(), std::byte { 0 });
    return zero;
}

CarriedState::CarriedState(std::shared_ptr<const Plan> plan, std::vector<CarryLink> links)
    : m_plan(std::move(plan))
    , m_links(std::move(links))
{
    for (const CarryLink& link : m_links)
        m_state.push_back(initialState(*m_plan, link));
}

bool CarriedState::carries(ValueId output) const
{
    return std::ranges::find(m_links, output, &CarryLink::output) != m_links.end();
}

std::vector<Tensor> CarriedState::inputs(std::span<const Tensor> data) const
{
    std::vector<Tensor> inputs;
    size_t next = 0;
    for (ValueId id : m_plan->graph().inputs()) {
        const auto link = std::ranges::find(m_links, id, &CarryLink::input);
        if (link != m_links.end())
            inputs.push_back(m_state[size_t(link - m_links.begin())]);
        else
            inputs.push_back(next < data.size() ? data[next++] : Tensor());
    }
    return inputs;
}

void CarriedState::keep(const Execution& execution)
{
    for (size_t i = 0; i < m_links.size(); ++i)
        m_state[i] = toPlain(execution.get(m_links[i].output));
}

} // namespace qs
