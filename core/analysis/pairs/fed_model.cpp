// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/fed_model.h"

#include <algorithm>

namespace qs {

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
    return m_state.inputs(data);
}

} // namespace qs
