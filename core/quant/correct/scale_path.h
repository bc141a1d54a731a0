// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/correct/layers.h"

#include <optional>

namespace qs {

/// Constants that a factor a channel can be multiplied into, so that a value gets it and nothing else changes.
struct ScalePath {
    struct Vector {
        size_t node, slot; ///< a constant of one element a channel, or of one for all
    };
    std::vector<Vector> vectors;
    std::optional<size_t> layer; ///< index of the layer whose output channels take it, weight and bias
};

struct ScalePathSearch {
    std::optional<ScalePath> path;
    std::string clip; ///< the Clip that stands in the way: a bound for all channels cannot be scaled by channel
};

/// Goes back from a value through what a positive factor passes (Relu, LeakyRelu, pools ...) to what takes it: a layer,
/// a normalization, a Mul with a constant. The value itself may have many readers, all of which get the factor.
ScalePathSearch scalePath(const GraphDraft& draft, const DraftLinks& links, const std::vector<LinearLayer>& layers,
    const std::string& value, bool channelsLast, int64_t channels);

/// Multiplies the constants of `path.vectors`.
void scaleVectors(GraphDraft& draft, const DraftLinks& links, const ScalePath& path, std::span<const double> factors);
/// Multiplies a layer's weight and bias.
void scaleLayer(GraphDraft& draft, const DraftLinks& links, const LinearLayer& layer,
    std::span<const double> outputFactors, std::span<const double> inputFactors);

} // namespace qs
