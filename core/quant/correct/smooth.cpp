// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/smooth.h"

#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/correct/scale_path.h"
#include "core/tensor/convert.h"
#include "core/tensor/eigen_map.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace qs {

namespace {

constexpr double kSmallestFactor = 1e-5;

/// A value and the layers that read it.
struct Smoothed {
    std::string value;
    std::vector<size_t> layers;
    bool channelsLast = false;
    int64_t channels = 0;
    std::vector<float> largest; ///< magnitude by channel
};

/// A value is smoothed when its chosen readers agree about where its channels lie.
std::vector<Smoothed> findInputs(const std::vector<LinearLayer>& layers, const std::vector<bool>& chosen)
{
    std::vector<Smoothed> inputs;
    for (size_t l = 0; l < layers.size(); ++l) {
        const LinearLayer& layer = layers[l];
        if (!chosen[layer.node])
            continue;
        const auto same = std::ranges::find_if(inputs, [&](const Smoothed& s) {
            return s.value == layer.input && s.channelsLast == layer.channelsLast && s.channels == layer.layout.inputs;
        });
        if (same != inputs.end())
            same->layers.push_back(l);
        else
            inputs.push_back({ layer.input, { l }, layer.channelsLast, layer.layout.inputs,
                std::vector<float>(size_t(layer.layout.inputs), 0) });
    }
    return inputs;
}

void takeMagnitudes(const Tensor& value, bool channelsLast, std::span<float> largest)
{
    const std::vector<float> x = toFloats(value);
    size_t inner = 1;
    for (size_t d = 2; !channelsLast && d < value.rank(); ++d)
        inner *= size_t(value.dim(d));
    const size_t channels = largest.size(), blocks = x.empty() ? 0 : x.size() / (channels * inner);
    for (size_t b = 0; b < blocks; ++b) {
        const auto magnitudes = matrixMap(x.data() + b * channels * inner, channels, inner).cwiseAbs();
        for (size_t c = 0; c < channels; ++c)
            largest[c] = std::max(largest[c], magnitudes.row(c).maxCoeff<Eigen::PropagateNumbers>());
    }
}

Status measure(std::vector<Smoothed>& inputs, CalibrationRun run)
{
    run.tensors.clear();
    std::vector<std::vector<size_t>> users;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const auto it = std::ranges::find(run.tensors, inputs[i].value);
        if (it == run.tensors.end()) {
            run.tensors.push_back(inputs[i].value);
            users.push_back({ i });
        } else {
            users[size_t(it - run.tensors.begin())].push_back(i);
        }
    }
    QS_TRY(ActivationPass pass, ActivationPass::make(run));
    std::mutex mutex; // the largest of all does not depend on the order
    const auto see = [&](size_t watched, const Tensor& value, size_t, size_t) -> Status {
        for (size_t i : users[watched]) {
            std::vector<float> largest(inputs[i].largest.size(), 0);
            takeMagnitudes(value, inputs[i].channelsLast, largest);
            const std::lock_guard lock(mutex);
            for (size_t c = 0; c < largest.size(); ++c)
                inputs[i].largest[c] = std::max(inputs[i].largest[c], largest[c]);
        }
        return {};
    };
    return pass.run("smooth", see);
}

class Smoother {
public:
    Smoother(GraphDraft& draft, const std::vector<bool>& chosen, double alpha, bool folding)
        : m_draft(draft)
        , m_links(draft)
        , m_layers(linearLayers(draft, m_links))
        , m_inputs(findInputs(m_layers, chosen))
        , m_alpha(alpha)
        , m_folding(folding)
    {
    }
    std::vector<Smoothed>& inputs() { return m_inputs; }

    SmoothReport run()
    {
        for (const Smoothed& input : m_inputs)
            smooth(input);
        m_draft.dropUnusedConstants();
        return std::move(m_report);
    }

private:
    std::vector<double> factors(const Smoothed& input) const
    {
        std::vector<float> weights(size_t(input.channels), 0);
        for (size_t l : input.layers) {
            const LinearLayer& layer = m_layers[l];
            const auto own = inputMagnitudes(toFloats(*m_draft.constant(layer.weight)), layer.layout);
            for (size_t c = 0; c < own.size(); ++c)
                weights[c] = std::max(weights[c], own[c]);
        }
        std::vector<double> factors;
        for (size_t c = 0; c < weights.size(); ++c) {
            const double f = std::pow(double(input.largest[c]), m_alpha) / std::pow(double(weights[c]), 1 - m_alpha);
            const bool used = input.largest[c] > 0 && weights[c] > 0 && std::isfinite(f);
            factors.push_back(used ? std::clamp(f, kSmallestFactor, 1 / kSmallestFactor) : 1.0);
        }
        return factors;
    }

    /// Who reads the value reads it as one of these layers.
    bool allSmoothed(const Smoothed& input) const
    {
        return m_links.readers(input.value).size() == input.layers.size() && !m_draft.isOutput(input.value)
            && !m_draft.isCaptured(input.value);
    }

    void smooth(const Smoothed& input)
    {
        const std::vector<double> by = factors(input);
        std::vector<double> inverse;
        for (double f : by)
            inverse.push_back(1 / f);
        std::optional<ScalePath> path;
        if (m_folding && allSmoothed(input))
            path = ScalePaths(m_draft, m_links, m_layers).to(input.value, input.channelsLast, input.channels).path;
        if (!path && !input.channelsLast) {
            for (size_t l : input.layers)
                m_report.nowhere.push_back(m_draft.nodes[m_layers[l].node].name);
            return;
        }
        if (path) {
            scaleVectors(m_draft, DraftLinks(m_draft), *path, inverse);
            if (path->layer)
                rescale(*path->layer, inverse, {});
        } else {
            insertMul(input, inverse);
        }
        for (size_t l : input.layers)
            rescale(l, {}, by);
        ++m_report.inputs;
        m_report.folded += path.has_value();
    }

    void rescale(size_t l, std::span<const double> outputs, std::span<const double> inputs)
    {
        LinearLayer& layer = m_layers[l];
        scaleLayer(m_draft, DraftLinks(m_draft), layer, outputs, inputs);
        layer.weight = m_draft.nodes[layer.node].inputs[1];
        if (!layer.bias.empty())
            layer.bias = m_draft.nodes[layer.biasNode].inputs[layer.biasSlot];
    }

    void insertMul(const Smoothed& input, const std::vector<double>& inverse)
    {
        const DraftNode& first = m_draft.nodes[m_layers[input.layers.front()].node];
        const std::string stem = input.value + "_smooth";
        const std::string output = stem + "_output_" + first.name;
        m_draft.setConstant(stem + "_scale_" + first.name,
            Tensor::of<float>({ input.channels }, std::vector<float>(inverse.begin(), inverse.end())));
        DraftNode mul;
        mul.name = stem + "_mul_" + first.name;
        mul.opType = "Mul";
        mul.inputs = { input.value, stem + "_scale_" + first.name };
        mul.outputs = { output };
        const auto type = m_draft.types.find(input.value);
        const ValueId known = m_draft.source().graph.findValue(input.value);
        if (type != m_draft.types.end())
            m_draft.types[output] = type->second;
        else if (known.valid())
            m_draft.types[output] = m_draft.source().graph.value(known).type;
        for (size_t l : input.layers)
            m_draft.nodes[m_layers[l].node].inputs[0] = output;
        m_report.added.push_back(mul.name);
        m_draft.nodes.push_back(std::move(mul));
    }

    GraphDraft& m_draft;
    DraftLinks m_links;
    std::vector<LinearLayer> m_layers;
    std::vector<Smoothed> m_inputs;
    double m_alpha;
    bool m_folding;
    SmoothReport m_report;
};

} // namespace

Result<SmoothReport> smoothInputs(
    GraphDraft& draft, const std::vector<bool>& chosen, double alpha, bool folding, CalibrationRun run)
{
    Smoother smoother(draft, chosen, alpha, folding);
    if (!smoother.inputs().empty())
        QS_CHECK(measure(smoother.inputs(), std::move(run)));
    return smoother.run();
}

} // namespace qs
