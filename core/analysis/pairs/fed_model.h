// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/carry.h"

namespace qs {

/// One of the models of a comparison as feeds reach it, with the state that it carries from one to the next. A feed
/// follows the float file's inputs without the carried ones; another model takes each by its name, else those that are
/// left in order.
class FedModel {
public:
    FedModel(CarriedState model, const CarriedState& floatModel);
    const CarriedState& state() const { return m_state; }
    /// What to bind. Floats are given in the type that the model declares, float16 say, and what has no elements in
    /// any.
    std::vector<Tensor> inputs(std::span<const Tensor> feed) const;
    void keep(const Execution& execution) { m_state.keep(execution); }

private:
    CarriedState m_state;
    std::vector<size_t> m_places; ///< in a feed, by input that data give; beyond its end: none
};

} // namespace qs
