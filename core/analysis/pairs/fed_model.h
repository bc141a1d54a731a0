// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/implied_inputs.h"
#include "core/engine/run/carry.h"

namespace qs {

/// One of the models of a comparison as feeds reach it, with the state that it carries from one to the next. A feed
/// follows the float file's inputs without the carried ones; of another model's inputs each takes its own (placesOf),
/// and one that the float file does not have, but tokens imply, what they imply.
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
    struct Source {
        size_t place; ///< in a feed; beyond its end: none
        InputSpec input;
        std::optional<Implied> implied; ///< where there is none
    };
    std::vector<InputSpec> m_inputs; ///< all of the graph
    std::vector<Source> m_sources; ///< by input that data give
    size_t m_tokens = 0; ///< their place in a feed
};

} // namespace qs
