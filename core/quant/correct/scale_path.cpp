// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/scale_path.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// One element a channel along the last axis, or one for all.
bool isChannelVector(const GraphDraft& draft, const DraftNode& node, size_t slot, int64_t channels)
{
    const Tensor* t = node.hasInput(slot) ? draft.constant(node.inputs[slot]) : nullptr;
    return t && t->dtype() == DType::Float32
        && (t->count() == 1 || (t->count() == channels && t->dim(t->rank() - 1) == channels));
}

bool isPool(const DraftNode& node)
{
    return (node.is("MaxPool") && node.outputs.size() == 1) || node.is("AveragePool") || node.is("GlobalAveragePool")
        || node.is("GlobalMaxPool");
}

/// A Clip that cuts nothing between 0 and its upper bound: a Relu but for that bound.
bool startsAtZero(const GraphDraft& draft, const DraftNode& clip)
{
    if (clip.attributes.has("min"))
        return clip.attributes.real("min", -1) == 0;
    const Tensor* low = clip.hasInput(1) ? draft.constant(clip.inputs[1]) : nullptr;
    return low && low->dtype() == DType::Float32 && low->count() == 1 && elementAsDouble(*low, 0) == 0;
}

} // namespace

/// Walks from a value to what makes it.
class ScaleWalk {
public:
    ScaleWalk(const ScalePaths& paths, int64_t channels)
        : m_draft(paths.m_draft)
        , m_links(paths.m_links)
        , m_layers(paths.m_layers)
        , m_throughClips(paths.m_throughClips)
        , m_channels(channels)
    {
    }

    ScalePathSearch from(std::string value, bool channelsLast)
    {
        m_value = std::move(value);
        m_last = channelsLast;
        ScalePathSearch found;
        for (bool first = true;; first = false) {
            const size_t producer = m_links.producer(m_value);
            if (producer == SIZE_MAX || m_draft.isOutput(m_value) || m_draft.isCaptured(m_value)
                || (!first && !m_links.readOnce(m_value)))
                return {};
            const auto layer = std::ranges::find(m_layers, m_value, &LinearLayer::output);
            if (layer != m_layers.end()) {
                if (layer->channelsLast != m_last || layer->layout.outputs != m_channels || !constantBias(*layer))
                    return {};
                m_path.layer = static_cast<size_t>(layer - m_layers.begin());
                return { m_path, {} };
            }
            const DraftNode& node = m_draft.nodes[producer];
            const bool clips = node.is("Clip");
            if (clips && !(m_throughClips && startsAtZero(m_draft, node)))
                return { std::nullopt, node.name };
            if (clips) {
                m_path.clips.push_back(producer);
                m_value = node.inputs[0];
                continue;
            }
            const Step step = pass(producer, node);
            if (step == Step::Taken)
                return { m_path, {} };
            if (step == Step::Stopped)
                return {};
        }
    }

private:
    enum class Step { Passed, Taken, Stopped };

    /// What a layer adds must take the factor, too.
    bool constantBias(const LinearLayer& layer) const
    {
        const DraftNode& node = m_draft.nodes[layer.node];
        return !layer.bias.empty() || node.is("MatMul") || !node.hasInput(2);
    }

    Step pass(size_t index, const DraftNode& node)
    {
        if (node.is("Relu") || node.is("LeakyRelu") || node.is("Identity") || (!m_last && isPool(node))) {
            m_value = node.inputs[0];
            return Step::Passed;
        }
        if (m_last && node.is("Flatten") && node.attributes.integer("axis", 1) == 1) {
            // Of N x C x 1 x 1, as global pools make it, the channels stay what they are.
            const size_t pool = m_links.producer(node.inputs[0]);
            if (pool == SIZE_MAX || !m_draft.nodes[pool].opType.starts_with("Global") || !isPool(m_draft.nodes[pool]))
                return Step::Stopped;
            m_last = false;
            m_value = node.inputs[0];
            return Step::Passed;
        }
        const bool norm = m_last ? node.is("LayerNormalization") && node.attributes.integer("axis", -1) == -1
                                 : node.is("BatchNormalization") && node.attributes.integer("training_mode", 0) == 0;
        if (norm) {
            for (size_t slot : { size_t(1), size_t(2) }) {
                if (node.inputs.size() > slot && !node.inputs[slot].empty()) {
                    if (!isChannelVector(m_draft, node, slot, m_channels))
                        return Step::Stopped;
                    m_path.vectors.push_back({ index, slot });
                }
            }
            return m_path.vectors.empty() || node.outputs.size() != 1 ? Step::Stopped : Step::Taken;
        }
        if (!m_last || (!node.is("Mul") && !node.is("Add")) || node.inputs.size() != 2)
            return Step::Stopped;
        for (size_t slot : { size_t(0), size_t(1) })
            if (isChannelVector(m_draft, node, slot, m_channels) && !m_draft.constant(node.inputs[1 - slot])) {
                m_path.vectors.push_back({ index, slot });
                m_value = node.inputs[1 - slot];
                return node.is("Mul") ? Step::Taken : Step::Passed;
            }
        return Step::Stopped;
    }

    const GraphDraft& m_draft;
    const DraftLinks& m_links;
    const std::vector<LinearLayer>& m_layers;
    const bool m_throughClips;
    const int64_t m_channels;
    std::string m_value;
    bool m_last = false;
    ScalePath m_path;
};

ScalePathSearch ScalePaths::to(const std::string& value, bool channelsLast, int64_t channels) const
{
    return ScaleWalk(*this, channels).from(value, channelsLast);
}

void scaleVectors(GraphDraft& draft, const DraftLinks& links, const ScalePath& path, std::span<const double> factors)
{
    for (const ScalePath::Vector& v : path.vectors) {
        const Tensor& old = *draft.constant(draft.nodes[v.node].inputs[v.slot]);
        const std::vector<float> values = toFloats(old);
        std::vector<float> scaled;
        for (size_t c = 0; c < factors.size(); ++c)
            scaled.push_back(static_cast<float>(double(values[values.size() == 1 ? 0 : c]) * factors[c]));
        const Shape shape = values.size() == factors.size() ? old.shape() : Shape { int64_t(factors.size()) };
        replaceConstant(draft, links, v.node, v.slot, Tensor::of<float>(shape, scaled));
    }
}

void scaleLayer(GraphDraft& draft, const DraftLinks& links, const LinearLayer& layer,
    std::span<const double> outputFactors, std::span<const double> inputFactors)
{
    const Tensor weight = *draft.constant(layer.weight);
    const std::vector<float> values = toFloats(weight);
    replaceConstant(draft, links, layer.node, 1,
        Tensor::of<float>(weight.shape(), scaledWeight(values, layer.layout, outputFactors, inputFactors)));
    if (layer.bias.empty() || outputFactors.empty())
        return;
    const Tensor bias = *draft.constant(layer.bias);
    std::vector<float> scaled = toFloats(bias);
    for (size_t c = 0; c < scaled.size(); ++c)
        scaled[c] = static_cast<float>(double(scaled[c]) * outputFactors[c]);
    replaceConstant(draft, links, layer.biasNode, layer.biasSlot, Tensor::of<float>(bias.shape(), scaled));
}

} // namespace qs
