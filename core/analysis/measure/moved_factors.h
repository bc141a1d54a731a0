// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/weight_grid.h"
#include "core/analysis/pairs/compare_pair.h"
#include "core/graph/graph.h"

#include <optional>
#include <set>
#include <span>
#include <vector>

/// Cross-layer equalization: channels of one layer get factors that the next layer's inputs take away again.
namespace qs {

/// What a constant is of the float model's, by channel, and how well that is known, relatively.
struct ChannelFactors {
    std::vector<double> out, outError;
    std::vector<double> in, inError; ///< their median is 1; none of a bias
};

/// Of a weight that is the float model's with a factor for each output and each input channel, rounded; nothing where
/// that does not explain all elements but one in a thousand. `y`: what is stored, in x's order.
std::optional<ChannelFactors> channelFactors(std::span<const float> x, std::span<const float> y, const Shape& shape,
    int64_t outAxis, const QuantParams& params, const WeightGrid& grid, double room = 0);
/// Of a bias, each of whose elements is a channel.
ChannelFactors biasFactors(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid);

/// A weight or bias of the float model, by the node that reads it.
struct LayerConstant {
    NodeId node;
    ValueId value;
    bool bias = false;
    const ChannelFactors* factors = nullptr; ///< null: as in the float model
    bool other = false; ///< not the float model's; without factors nobody knows what it is
};
/// Layers with factors that cancel out from one to the next: all that reads a channel with a factor takes it away, and
/// biases have that of their channels.
struct EqualizedLayers {
    std::set<NodeId> nodes; ///< with weights or biases of their own
    EqualizedValues values; ///< between them, whose channels have factors
};
EqualizedLayers equalizedLayers(const Graph& graph, const std::vector<LayerConstant>& constants);

} // namespace qs
