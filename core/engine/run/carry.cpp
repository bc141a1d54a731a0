// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/carry.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

Tensor initialState(const ValueType& type)
{
    Shape shape;
    for (const Dim& d : type.dims.value_or(Dims {}))
        shape.push_back(d.known() ? d.value : 1);
    Tensor zero = Tensor::allocate(type.dtype, shape);
    std::fill_n(zero.fill<std::byte>().data(), zero.byteCount(), std::byte { 0 });
    return zero;
}

} // namespace

bool isCarried(const CarryNames& names, const std::string& input)
{
    return std::ranges::find(names, input, &CarryNames::value_type::second) != names.end();
}

Result<CarriedState> CarriedState::make(
    std::shared_ptr<const Plan> plan, const CarryNames& names, const std::map<std::string, Tensor>& initial)
{
    CarriedState state(std::move(plan));
    const Graph& graph = state.m_plan->graph();
    for (const auto& [out, in] : names) {
        const ValueId o = graph.findValue(out), i = graph.findValue(in);
        if (!o.valid() || !i.valid() || !graph.isInput(i))
            return badInput("has no output '" + out + "' with an input '" + in + "' to carry it to",
                state.m_plan->model().path, "give --carry OUTPUT=INPUT with names of this model");
        const auto given = initial.find(in);
        if (given != initial.end() && given->second.dtype() != graph.value(i).type.dtype) {
            Issue issue = badInput("begins as " + std::string(dtypeName(given->second.dtype())) + " in the data and is "
                    + std::string(dtypeName(graph.value(i).type.dtype)) + " in this model",
                state.m_plan->model().path, "leave the array out, so that it begins with zeros in either model");
            issue.tensor = in;
            return issue;
        }
        state.m_links.push_back({ o, i, given != initial.end() ? given->second : initialState(graph.value(i).type) });
    }
    return state;
}

const CarriedState::Link* CarriedState::to(ValueId input) const
{
    const auto link = std::ranges::find(m_links, input, &Link::input);
    return link == m_links.end() ? nullptr : &*link;
}

std::vector<ValueId> CarriedState::outputs() const
{
    std::vector<ValueId> ids;
    for (const Link& link : m_links)
        ids.push_back(link.output);
    return ids;
}

bool CarriedState::carries(ValueId output) const
{
    return std::ranges::find(m_links, output, &Link::output) != m_links.end();
}

std::vector<std::string> CarriedState::fed() const
{
    std::vector<std::string> names;
    for (const ValueId id : m_plan->graph().inputs())
        if (!to(id))
            names.push_back(m_plan->graph().value(id).name);
    return names;
}

std::vector<Tensor> CarriedState::inputs(std::span<const Tensor> data) const
{
    std::vector<Tensor> inputs;
    size_t next = 0;
    for (const ValueId id : m_plan->graph().inputs())
        if (const Link* link = to(id))
            inputs.push_back(link->value);
        else
            inputs.push_back(next < data.size() ? data[next++] : Tensor());
    return inputs;
}

void CarriedState::keep(const Execution& execution)
{
    for (Link& link : m_links)
        link.value = toPlain(execution.get(link.output));
}

} // namespace qs
