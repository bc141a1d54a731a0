// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/equalize.h"

#include "core/quant/correct/scale_path.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr int kMostSweeps = 40;
constexpr double kStill = 1e-3; ///< largest change of a factor that counts as none
constexpr double kLargestFactor = 1e4; ///< of a channel that one side hardly uses

struct Pair {
    size_t first, second; ///< layer indices
    ScalePath path;
};

/// The factors of each layer's channels, so far.
struct Factors {
    std::vector<double> outputs, inputs;
};

class Equalizer {
public:
    Equalizer(GraphDraft& draft, const std::vector<bool>& chosen, bool replaceClips)
        : m_draft(draft)
        , m_links(draft)
        , m_layers(linearLayers(draft, m_links))
    {
        const ScalePaths paths(m_draft, m_links, m_layers, replaceClips);
        std::set<std::string> clips;
        for (size_t second = 0; second < m_layers.size(); ++second) {
            const LinearLayer& layer = m_layers[second];
            if (!chosen[layer.node] || !m_links.readOnce(layer.input))
                continue;
            auto found = paths.to(layer.input, layer.channelsLast, layer.layout.inputs);
            if (!found.clip.empty())
                clips.insert(found.clip);
            if (found.path && found.path->layer && chosen[m_layers[*found.path->layer].node])
                m_pairs.push_back({ *found.path->layer, second, std::move(*found.path) });
        }
        m_clips.assign(clips.begin(), clips.end());
        for (const LinearLayer& layer : m_layers) {
            m_magnitudes.push_back(tapMagnitudes(toFloats(*m_draft.constant(layer.weight)), layer.layout));
            m_factors.push_back({ std::vector<double>(size_t(layer.layout.outputs), 1.0),
                std::vector<double>(size_t(layer.layout.inputs), 1.0) });
        }
    }

    EqualizeReport run()
    {
        for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
            double moved = 0;
            for (const Pair& pair : m_pairs)
                moved = std::max(moved, balance(pair));
            if (moved < kStill)
                break;
        }
        std::set<size_t> changed;
        for (const Pair& pair : m_pairs) {
            changed.insert({ pair.first, pair.second });
            scaleVectors(m_draft, m_links, pair.path, m_factors[pair.first].outputs);
        }
        for (size_t l : changed)
            scaleLayer(m_draft, m_links, m_layers[l], m_factors[l].outputs, m_factors[l].inputs);
        std::vector<std::string> replaced;
        for (const Pair& pair : m_pairs)
            for (size_t clip : pair.path.clips)
                replaced.push_back(asRelu(m_draft.nodes[clip]));
        m_draft.dropUnusedConstants();
        return { m_pairs.size(), m_clips, std::move(replaced) };
    }

private:
    static std::string asRelu(DraftNode& clip)
    {
        clip.opType = "Relu";
        clip.inputs.resize(1);
        clip.attributes = {};
        clip.attributesChanged = true;
        return clip.name;
    }

    std::vector<float> magnitudes(size_t l, bool outputs) const
    {
        return scaledMagnitudes(
            m_magnitudes[l], m_layers[l].layout, m_factors[l].outputs, m_factors[l].inputs, outputs);
    }

    /// Largest relative change of a channel.
    double balance(const Pair& pair)
    {
        const auto made = magnitudes(pair.first, true), read = magnitudes(pair.second, false);
        double moved = 0;
        for (size_t c = 0; c < made.size(); ++c) {
            double& out = m_factors[pair.first].outputs[c];
            double& in = m_factors[pair.second].inputs[c];
            if (!(made[c] > 0) || !(read[c] > 0) || !std::isfinite(made[c]) || !std::isfinite(read[c]))
                continue;
            const double wanted = in * std::sqrt(double(made[c]) / double(read[c]));
            const double factor = std::clamp(wanted, 1 / kLargestFactor, kLargestFactor);
            moved = std::max(moved, std::abs(factor / in - 1));
            in = factor;
            out = 1 / factor;
        }
        return moved;
    }

    GraphDraft& m_draft;
    DraftLinks m_links;
    std::vector<LinearLayer> m_layers;
    std::vector<Pair> m_pairs;
    std::vector<std::string> m_clips;
    std::vector<std::vector<float>> m_magnitudes; ///< of each layer's weight, see tapMagnitudes()
    std::vector<Factors> m_factors;
};

} // namespace

EqualizeReport equalizeLayers(GraphDraft& draft, const std::vector<bool>& chosen, bool replaceClips)
{
    return Equalizer(draft, chosen, replaceClips).run();
}

} // namespace qs
