// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/fed_model.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/graph/input_sizes.h"

#include <algorithm>

namespace qs {

namespace {

/// A state that nothing was put into yet has the model's own type and sizes.
Tensor withoutElements(const InputSpec& input, const Tensor& t)
{
    Shape shape = t.shape();
    if (input.dims && input.dims->size() == shape.size())
        for (size_t d = 0; d < shape.size(); ++d)
            shape[d] = (*input.dims)[d].known() ? (*input.dims)[d].value : shape[d];
    return elementCount(shape).value_or(1) == 0 ? Tensor::allocate(input.dtype, std::move(shape)) : t;
}

Tensor asTakenBy(const InputSpec& input, const Tensor& t)
{
    if (!t.valid() || input.dtype == DType::Undefined)
        return t;
    if (t.count() == 0)
        return withoutElements(input, t);
    return t.dtype() == input.dtype ? t : convertedTo(t, input.dtype);
}

InputSpec inputOf(const Graph& graph, ValueId id)
{
    const Value& value = graph.value(id);
    return { value.name, value.type.container.empty() ? value.type.dtype : DType::Undefined, inputSizes(graph, id) };
}

/// Those that data give, in the graph's order.
std::vector<InputSpec> fedInputs(const CarriedState& model)
{
    std::vector<InputSpec> inputs;
    for (const std::string& name : model.fed())
        inputs.push_back(inputOf(model.plan().graph(), model.plan().graph().findValue(name)));
    return inputs;
}

} // namespace

FedModel::FedModel(CarriedState model, const CarriedState& floatModel)
    : m_state(std::move(model))
{
    for (const ValueId id : m_state.plan().graph().inputs())
        m_inputs.push_back(inputOf(m_state.plan().graph(), id));
    const auto given = fedInputs(floatModel), taken = fedInputs(m_state);
    const auto places = placesOf(taken, given);
    m_tokens = size_t(std::ranges::find_if(given, holdsTokens) - given.begin());
    for (size_t i = 0; i < taken.size(); ++i)
        m_sources.push_back({ places[i], taken[i], places[i] < given.size() ? std::nullopt : impliedBy(taken[i]) });
}

std::vector<Tensor> FedModel::inputs(std::span<const Tensor> feed) const
{
    std::vector<Tensor> data;
    for (const Source& source : m_sources)
        if (source.place < feed.size())
            data.push_back(feed[source.place]);
        else if (source.implied && m_tokens < feed.size() && feed[m_tokens].rank() == 2)
            data.push_back(impliedTensor(source.input, *source.implied, feed[m_tokens].shape()));
        else
            data.emplace_back();
    std::vector<Tensor> bound = m_state.inputs(data);
    for (size_t i = 0; i < bound.size(); ++i)
        bound[i] = asTakenBy(m_inputs[i], bound[i]);
    return bound;
}

} // namespace qs
