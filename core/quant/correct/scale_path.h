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
    std::vector<size_t> clips; ///< nodes on the way that the factor passes only as Relu
};

struct ScalePathSearch {
    std::optional<ScalePath> path;
    std::string clip; ///< the Clip that stands in the way: a bound for all channels cannot be scaled by channel
};

/// Goes back from a value through what a positive factor passes (Relu, LeakyRelu, pools ...) to what takes it: a layer,
/// a normalization, a Mul with a constant. The value itself may have many readers, all of which get the factor.
class ScalePaths {
public:
    /// `throughClips`: passes a Clip from 0 on, which is to become a Relu.
    ScalePaths(const GraphDraft& draft, const DraftLinks& links, const std::vector<LinearLayer>& layers,
        bool throughClips = false)
        : m_draft(draft)
        , m_links(links)
        , m_layers(layers)
        , m_throughClips(throughClips)
    {
    }
    ScalePathSearch to(const std::string& value, bool channelsLast, int64_t channels) const;

private:
    friend class ScaleWalk;
    const GraphDraft& m_draft;
    const DraftLinks& m_links;
    const std::vector<LinearLayer>& m_layers;
    bool m_throughClips;
};

/// Multiplies the constants of `path.vectors`.
void scaleVectors(GraphDraft& draft, const DraftLinks& links, const ScalePath& path, std::span<const double> factors);
/// Multiplies a layer's weight and bias.
void scaleLayer(GraphDraft& draft, const DraftLinks& links, const LinearLayer& layer,
    std::span<const double> outputFactors, std::span<const double> inputFactors);

} // namespace qs
