// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/adaround.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/qdq/name_tails.h"
#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/correct/flips.h"
#include "core/quant/correct/layer_patches.h"
#include "core/quant/correct/some_feeds.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostRoundingFeeds = 64;
constexpr int64_t kFewestRows = 1024, kMostRows = 4096;
constexpr int64_t kWidest = 8192; ///< inputs of an output; their square is kept

/// A layer and how its weight is quantized.
struct Rounded {
    LinearLayer layer;
    QuantParams params;
    Tensor weight;
};

/// The parameters that the quantizer gave a weight; nullopt: it is not quantized. Issue: quantized in another way.
Result<std::optional<QuantParams>> paramsOf(const GraphDraft& quantized, const LinearLayer& layer, const Tensor& weight)
{
    const Tensor* scale = quantized.constant(layer.weight + tails::kScale);
    const Tensor* zero = quantized.constant(layer.weight + tails::kZeroPoint);
    const Tensor* codes = quantized.constant(layer.weight + tails::kCodes);
    if (!scale || !zero || !codes)
        return std::optional<QuantParams>();
    QuantParams params { zero->dtype(), toFloats(*scale), {}, std::nullopt, 0 };
    for (int64_t z : toInts(*zero))
        params.zeroPoint.push_back(static_cast<int32_t>(z));
    if (params.scale.size() != 1)
        params.axis = layer.layout.outputAxis();
    const bool oneEach
        = params.scale.size() == 1 || int64_t(params.scale.size()) == weight.dim(size_t(layer.layout.outputAxis()));
    if (!oneEach || params.zeroPoint.size() != params.scale.size() || codes->shape() != weight.shape()
        || toInts(weightCodes(weight, params)) != toInts(*codes))
        return badInput("the quantizer changed its shape, or gave it other scales than one for all or one an output");
    return std::optional(std::move(params));
}

/// Smallest and largest value that share a scale: these keep it what it is.
struct Bounds {
    float low = 0, high = 0;
};

std::vector<Bounds> scaleBounds(std::span<const float> w, const WeightLayout& layout, size_t scales)
{
    std::vector<Bounds> bounds(scales);
    for (int64_t o = 0; o < layout.outputs; ++o)
        for (int64_t i = 0; i < layout.groupInputs(); ++i)
            for (int64_t t = 0; t < layout.taps; ++t) {
                const float v = w[layout.at(o, i, t)];
                Bounds& b = bounds[scales == 1 ? 0 : size_t(o)];
                b = { std::min(b.low, v), std::max(b.high, v) };
            }
    return bounds;
}

/// One weight, its code, and the value that stands for the next code on the other side.
struct Choice {
    float error = 0, step = 0, other = 0;
};

Choice choiceOf(float v, float scale, int32_t zero, const CodeRange& codes, const Bounds& bounds)
{
    const double place = double(v) / double(scale) + zero;
    const double code = std::clamp(roundHalfEven(double(v / scale)) + zero, double(codes.low), double(codes.high));
    Choice choice { static_cast<float>((code - place) * double(scale)), 0, v };
    const double next = place > code ? code + 1 : code - 1;
    if (v == bounds.low || v == bounds.high || next < double(codes.low) || next > double(codes.high))
        return choice;
    const float value = std::clamp(static_cast<float>((next - zero) * double(scale)), bounds.low, bounds.high);
    if (roundHalfEven(double(value / scale)) + zero != next)
        return choice;
    choice.step = static_cast<float>((next - code) * double(scale));
    choice.other = value;
    return choice;
}

/// The weight with some values moved to the middle of another code; `changed` counts them.
Tensor rounded(const Rounded& r, const LayerPatches& patches, size_t& changed, const CancelToken& cancel)
{
    const WeightLayout& layout = r.layer.layout;
    std::vector<float> w = toFloats(r.weight);
    const auto bounds = scaleBounds(w, layout, r.params.scale.size());
    const auto n = static_cast<size_t>(layout.rowSize());
    std::vector<float> errors(n), steps(n);
    std::vector<Choice> choices(n);
    for (int64_t g = 0; g < layout.groups; ++g) {
        const std::vector<float> gram = gramMatrix(patches.rows(g), n);
        for (int64_t o = g * layout.groupOutputs(); o < (g + 1) * layout.groupOutputs(); ++o) {
            if (cancel.cancelled())
                return r.weight;
            const size_t s = r.params.scale.size() == 1 ? 0 : size_t(o);
            for (size_t k = 0; k < n; ++k) {
                const size_t at = layout.at(o, int64_t(k) / layout.taps, int64_t(k) % layout.taps);
                choices[k] = choiceOf(w[at], r.params.scale[s], r.params.zeroPoint[s], r.params.codes(), bounds[s]);
                errors[k] = choices[k].error;
                steps[k] = choices[k].step;
            }
            const std::vector<bool> flips = chooseFlips(gram, errors, steps);
            for (size_t k = 0; k < n; ++k)
                if (flips[k]) {
                    w[layout.at(o, int64_t(k) / layout.taps, int64_t(k) % layout.taps)] = choices[k].other;
                    ++changed;
                }
        }
    }
    return Tensor::of<float>(r.weight.shape(), w);
}

class AdaRounder {
public:
    AdaRounder(GraphDraft& draft, const AdaRoundOptions& options, CalibrationRun run)
        : m_draft(draft)
        , m_links(draft)
        , m_options(options)
        , m_run(std::move(run))
    {
        m_run.data = std::make_shared<SomeFeeds>(m_run.data, kMostRoundingFeeds, !m_run.carry.empty());
    }

    void find(const GraphDraft& quantized)
    {
        for (LinearLayer& layer : linearLayers(m_draft, m_links)) {
            const Tensor& weight = *m_draft.constant(layer.weight);
            const auto skip
                = [&](const std::string& why) { m_report.skipped.push_back("'" + layer.weight + "': " + why); };
            auto params = paramsOf(quantized, layer, weight);
            if (!params)
                skip(params.issue().what);
            else if (!*params)
                continue;
            else if (m_draft.nodes[layer.node].is("ConvTranspose"))
                skip("a transposed convolution");
            else if (!m_links.readOnce(layer.weight))
                skip("several nodes read it");
            else if (layer.layout.rowSize() > kWidest)
                skip("more than " + std::to_string(kWidest) + " inputs");
            else
                m_layers.push_back({ layer, **params, weight });
        }
    }

    Result<AdaRoundReport> run()
    {
        for (size_t from = 0; from < m_layers.size();) {
            size_t to = from;
            for (uint64_t bytes = 0; to < m_layers.size(); ++to) {
                const WeightLayout& layout = m_layers[to].layer.layout;
                bytes += LayerPatches::bytes(layout, rowsPerFeed(layout) * m_run.data->feeds());
                if (bytes > m_options.patchBytes && to > from)
                    break;
            }
            QS_CHECK(roundSome(from, to));
            from = to;
        }
        return std::move(m_report);
    }

private:
    size_t rowsPerFeed(const WeightLayout& layout) const
    {
        const auto wanted = static_cast<size_t>(std::clamp(2 * layout.rowSize(), kFewestRows, kMostRows));
        const uint64_t fitting = m_options.patchBytes / std::max<uint64_t>(LayerPatches::bytes(layout, 1), 1);
        const size_t feeds = std::max<size_t>(m_run.data->feeds(), 1);
        return std::max<size_t>((std::min<size_t>(wanted, fitting) + feeds - 1) / feeds, 1);
    }

    /// One pass over the data for the layers from `from` to `to`.
    Status roundSome(size_t from, size_t to)
    {
        CalibrationRun run = m_run;
        run.tensors.clear();
        std::vector<std::vector<size_t>> readers;
        std::vector<LayerPatches> patches;
        const Graph& graph = run.plan->graph();
        for (size_t l = from; l < to; ++l) {
            const Rounded& r = m_layers[l];
            const NodeId node = graph.value(graph.findValue(m_draft.nodes[r.layer.node].outputs[0])).producer;
            patches.emplace_back(
                r.layer, graph.node(node), r.weight.shape(), run.data->feeds(), rowsPerFeed(r.layer.layout));
            const auto known = std::ranges::find(run.tensors, r.layer.input);
            if (known == run.tensors.end())
                readers.emplace_back();
            readers[size_t(known - run.tensors.begin())].push_back(l - from);
            if (known == run.tensors.end())
                run.tensors.push_back(r.layer.input);
        }
        QS_TRY(ActivationPass pass, ActivationPass::make(run));
        const auto see = [&](size_t watched, const Tensor& value, size_t feed, size_t) -> Status {
            for (size_t p : readers[watched])
                QS_CHECK(patches[p].take(value, feed, m_options.seed + from + p));
            return {};
        };
        QS_CHECK(pass.run("look at weights", see));
        std::vector<Tensor> weights(patches.size());
        std::vector<size_t> changed(patches.size(), 0);
        const CancelToken& cancel = m_run.work.cancel;
        QS_CHECK(parallelTry(patches.size(), m_run.work.threadCount(), cancel, [&](size_t p, size_t) -> Status {
            weights[p] = rounded(m_layers[from + p], patches[p], changed[p], cancel);
            patches[p].clear();
            return cancel.cancelled() ? Status(cancelled()) : Status();
        }));
        for (size_t p = 0; p < patches.size(); ++p) {
            const Rounded& r = m_layers[from + p];
            replaceConstant(m_draft, m_links, r.layer.node, 1, weights[p]);
            ++m_report.layers;
            m_report.changed += changed[p];
            m_report.weights += static_cast<size_t>(r.weight.count());
        }
        return {};
    }

    GraphDraft& m_draft;
    DraftLinks m_links;
    const AdaRoundOptions& m_options;
    CalibrationRun m_run;
    std::vector<Rounded> m_layers;
    AdaRoundReport m_report;
};

} // namespace

Result<AdaRoundReport> adaRound(
    GraphDraft& draft, const GraphDraft& quantized, const AdaRoundOptions& options, CalibrationRun run)
{
    AdaRounder rounder(draft, options, std::move(run));
    rounder.find(quantized);
    return rounder.run();
}

} // namespace qs
