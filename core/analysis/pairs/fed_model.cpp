// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/fed_model.h"

#include "core/analysis/pairs/float_elements.h"

#include <algorithm>

namespace qs {

namespace {

/// A state that nothing was put into yet has the model's own type and sizes.
Tensor withoutElements(const ValueType& type, const Tensor& t)
{
    Shape shape = t.shape();
    if (type.dims && type.dims->size() == shape.size())
        for (size_t d = 0; d < shape.size(); ++d)
            shape[d] = (*type.dims)[d].known() ? (*type.dims)[d].value : shape[d];
    return elementCount(shape).value_or(1) == 0 ? Tensor::allocate(type.dtype, std::move(shape)) : t;
}

Tensor inTypeOf(const ValueType& type, const Tensor& t)
{
    if (!t.valid() || type.dtype == DType::Undefined || !type.container.empty() || t.dtype() == type.dtype)
        return t;
    return t.count() == 0 ? withoutElements(type, t) : convertedTo(t, type.dtype);
}

} // namespace

FedModel::FedModel(CarriedState model, const CarriedState& floatModel)
    : m_state(std::move(model))
{
    const std::vector<std::string> given = floatModel.fed();
    std::vector<bool> used(given.size(), false);
    for (const std::string& name : m_state.fed()) {
        const auto place = size_t(std::ranges::find(given, name) - given.begin());
        m_places.push_back(place);
        if (place < given.size())
            used[place] = true;
    }
    for (size_t& place : m_places)
        if (place == given.size()) {
            place = size_t(std::ranges::find(used, false) - used.begin());
            if (place < used.size())
                used[place] = true;
        }
}

std::vector<Tensor> FedModel::inputs(std::span<const Tensor> feed) const
{
    std::vector<Tensor> data;
    for (const size_t place : m_places)
        data.push_back(place < feed.size() ? feed[place] : Tensor());
    std::vector<Tensor> bound = m_state.inputs(data);
    const Graph& graph = m_state.plan().graph();
    for (size_t i = 0; i < bound.size(); ++i)
        bound[i] = inTypeOf(graph.value(graph.inputs()[i]).type, bound[i]);
    return bound;
}

} // namespace qs
