// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/moved_factors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace qs {

namespace {

constexpr double kStepAndRoom = 0.6; ///< half a step; factors are estimated
constexpr double kUnexplained = 0.001; ///< share of the elements
constexpr double kSureDeviations = 4, kRoundingOfStep = 0.29; ///< standard deviations; that of rounding, in steps
constexpr double kSettledFactor = 1e-5; ///< relative
constexpr size_t kMostRounds = 20;
constexpr double kWellKnown = 0.1, kMostKnown = 0.5; ///< error of a factor, and share of those that tell
constexpr double kCancels = 0.02; ///< factors that cancel, beside what is not known of them
constexpr double kTellsNothing = 1; ///< error of a factor that tells nothing

/// One element and its channels.
struct Indexed {
    size_t columns, inner;
    bool rowsAreOut;
    size_t out(size_t i) const { return rowsAreOut ? i / (columns * inner) : i / inner % columns; }
    size_t in(size_t i) const { return rowsAreOut ? i / inner % columns : i / (columns * inner); }
};

double medianOfAll(std::vector<double> values)
{
    const auto middle = values.begin() + ptrdiff_t(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::vector<double> stepsOf(size_t size, const QuantParams& params, const WeightGrid& grid)
{
    std::vector<double> steps(size);
    grid.eachRun(size, [&](size_t scale, size_t begin, size_t n) {
        std::fill_n(steps.begin() + ptrdiff_t(begin), n,
            std::fabs(double(params.scale[std::min(scale, params.scale.size() - 1)])));
    });
    return steps;
}

/// Sums by one kind of channel, for its factors given those of the other kind.
struct Fit {
    std::vector<double> xx, xy, ss, count;
    explicit Fit(size_t channels)
        : xx(channels)
        , xy(channels)
        , ss(channels)
        , count(channels)
    {
    }
    void add(size_t c, double x, double y, double step)
    {
        xx[c] += x * x;
        xy[c] += x * y;
        ss[c] += step * step;
        ++count[c];
    }
    /// Returns the largest relative change.
    double update(std::vector<double>& factors) const
    {
        double most = 0;
        for (size_t c = 0; c < xx.size(); ++c) {
            const double next = xx[c] > 0 ? xy[c] / xx[c] : 1;
            most = std::max(most, std::fabs(next - factors[c]) / std::max(std::fabs(factors[c]), kSettledFactor));
            factors[c] = next;
        }
        return most;
    }
    std::vector<double> errors(const std::vector<double>& factors) const
    {
        std::vector<double> all(xx.size(), kTellsNothing);
        for (size_t c = 0; c < xx.size(); ++c)
            if (xx[c] > 0 && factors[c] > 0)
                all[c] = std::min(kTellsNothing,
                    kSureDeviations * kRoundingOfStep * std::sqrt(ss[c] / count[c] / xx[c]) / factors[c]);
        return all;
    }
};

} // namespace

std::optional<ChannelFactors> channelFactors(std::span<const float> x, std::span<const float> y, const Shape& shape,
    int64_t outAxis, const QuantParams& params, const WeightGrid& grid, double room)
{
    if (shape.size() < 2 || outAxis < 0 || outAxis > 1 || params.scale.empty() || !isInteger(params.dtype)
        || size_t(elementCount(shape).value_or(0)) != x.size() || x.empty())
        return std::nullopt;
    const auto outs = size_t(shape[size_t(outAxis)]), ins = size_t(shape[size_t(1 - outAxis)]);
    const Indexed at { size_t(shape[1]), x.size() / (outs * ins), outAxis == 0 };
    const std::vector<double> steps = stepsOf(x.size(), params, grid);
    ChannelFactors f { std::vector<double>(outs, 1), {}, std::vector<double>(ins, 1), {} };
    double change = HUGE_VAL;
    for (size_t round = 0; round < kMostRounds && change > kSettledFactor; ++round) {
        Fit byOut(outs), byIn(ins);
        for (size_t i = 0; i < x.size(); ++i)
            byOut.add(at.out(i), x[i] * f.in[at.in(i)], y[i], steps[i]);
        change = byOut.update(f.out);
        for (size_t i = 0; i < x.size(); ++i)
            byIn.add(at.in(i), x[i] * f.out[at.out(i)], y[i], steps[i]);
        change = std::max(change, byIn.update(f.in));
        f.outError = byOut.errors(f.out);
        f.inError = byIn.errors(f.in);
    }
    const double middle = medianOfAll(f.in);
    if (middle <= 0)
        return std::nullopt;
    for (double& in : f.in)
        in /= middle;
    for (double& out : f.out)
        out *= middle;
    const CodeValues codes = params.values();
    size_t left = 0;
    grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
        const size_t s = std::min(scale, params.scale.size() - 1);
        const double a = params.low(s), b = params.high(s); // a scale below zero turns the ends round
        for (size_t i = begin; i < begin + n; ++i) {
            const double wanted = x[i] * f.out[at.out(i)] * f.in[at.in(i)];
            const double expected = std::clamp(wanted, std::min(a, b), std::max(a, b));
            const double known = f.outError[at.out(i)] + f.inError[at.in(i)] + room;
            // Where the lowest code is left out, the end lies one step before it.
            const double ofEnd = expected != wanted && codes.low < 0 ? steps[i] : 0;
            left += std::fabs(y[i] - expected)
                > kStepAndRoom * steps[i] + ofEnd + known * std::fabs(expected) + room * std::fabs(double(y[i]));
        }
    });
    return double(left) <= kUnexplained * double(x.size()) ? std::optional(std::move(f)) : std::nullopt;
}

ChannelFactors biasFactors(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid)
{
    ChannelFactors f;
    const std::vector<double> steps = stepsOf(x.size(), params, grid);
    for (size_t i = 0; i < x.size(); ++i) {
        f.out.push_back(x[i] != 0 ? double(y[i]) / x[i] : 1);
        const double size = std::max(std::fabs(double(x[i])), std::fabs(double(y[i])));
        f.outError.push_back(
            size > 0 && x[i] != 0 ? std::min(kTellsNothing, kStepAndRoom * steps[i] / size) : kTellsNothing);
    }
    return f;
}

namespace {

/// Where each channel goes through with whatever positive factor it has.
bool keepsFactors(const Node& node)
{
    static constexpr auto kTypes = std::to_array<std::string_view>({ "Relu", "LeakyRelu", "PRelu", "MaxPool",
        "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Identity", "Dropout", "Flatten", "Pad", "Resize" });
    return std::ranges::find(kTypes, node.opType) != kTypes.end() && node.hasInput(0) && node.hasOutput(0);
}

/// Goes through the float model's layers in order with the factors that their channels have. What biases are does not
/// matter: one without its channels' factors is wrong by itself.
class Equalization {
public:
    Equalization(const Graph& graph, const std::vector<LayerConstant>& constants)
        : m_graph(graph)
        , m_scales(graph.values().size())
    {
        for (const LayerConstant& c : constants)
            (c.bias ? m_biases : m_weights).try_emplace(c.node, &c);
        for (size_t n = 0; n < graph.nodes().size(); ++n)
            pass(NodeId(n));
    }

    EqualizedLayers found() const
    {
        std::set<NodeId> bad = m_bad;
        for (size_t before = bad.size() + 1; before != bad.size();) {
            before = bad.size();
            for (const auto& [a, b] : m_links)
                if (bad.contains(a) || bad.contains(b))
                    bad.insert({ a, b });
        }
        EqualizedLayers good;
        for (const auto& [a, b] : m_links)
            if (!bad.contains(a))
                good.nodes.insert({ a, b });
        for (size_t v = 0; v < m_scales.size(); ++v)
            if (m_scales[v] && good.nodes.contains(m_scales[v]->source))
                good.values[ValueId(v)]
                    = { { m_scales[v]->factors.begin(), m_scales[v]->factors.end() }, m_scales[v]->last };
        return good;
    }

private:
    struct Scale {
        std::vector<double> factors, errors;
        NodeId source; ///< the layer whose channels have them
        bool last = false; ///< the axis of channels is the last one; else the second
    };

    static bool isOne(double factor, double error) { return std::fabs(factor - 1) <= kCancels + error; }

    void pass(NodeId id)
    {
        const Node& node = m_graph.node(id);
        const auto weight = m_weights.find(id);
        if (weight != m_weights.end()) {
            passLayer(id, *weight->second);
            return;
        }
        const auto bias = m_biases.find(id);
        const bool adds = (node.opType == "Add" || node.opType == "BatchNormalization") && bias != m_biases.end();
        for (const ValueId in : node.inputs) {
            if (!in.valid() || !m_scales[in.index()])
                continue;
            const Scale& scale = *m_scales[in.index()];
            const ValueId out = node.outputs.empty() ? ValueId() : node.outputs[0];
            if ((keepsFactors(node) || adds || multipliesOne(node)) && out.valid())
                setScale(out, scale, node.opType == "Flatten");
            else
                m_bad.insert(scale.source);
        }
    }

    /// A product of two values of which one alone has factors, as a gate and what it lets through.
    bool multipliesOne(const Node& node) const
    {
        return node.opType == "Mul" && node.hasInput(0) && node.hasInput(1) && node.inputs[0] != node.inputs[1]
            && m_scales[node.inputs[0].index()].has_value() != m_scales[node.inputs[1].index()].has_value();
    }

    void passLayer(NodeId id, const LayerConstant& weight)
    {
        const Node& node = m_graph.node(id);
        const Scale* coming = nullptr;
        for (const ValueId in : node.inputs)
            if (in.valid() && in != weight.value && m_scales[in.index()])
                coming = &*m_scales[in.index()];
        if (coming)
            m_links.emplace_back(coming->source, id);
        if (!weight.factors) {
            if (coming || weight.other)
                m_bad.insert(id);
            return;
        }
        Scale scale { weight.factors->out, weight.factors->outError, id, !node.opType.starts_with("Conv") };
        if (!takeAway(*weight.factors, coming, scale)) {
            m_bad.insert(id);
            return;
        }
        const bool ones = std::ranges::all_of(
            scale.factors, [&](const double& f) { return isOne(f, scale.errors[size_t(&f - scale.factors.data())]); });
        if (!ones)
            setScale(node.outputs[0], scale);
    }

    /// Whether the layer's inputs undo what their channels have; `scale`: its outputs' then.
    bool takeAway(const ChannelFactors& own, const Scale* coming, Scale& scale) const
    {
        const size_t channels = coming ? coming->factors.size() : 1;
        if (coming && own.in.size() == 1
            && own.out.size() == channels) { // one input each, as of depthwise convolutions
            for (size_t i = 0; i < channels; ++i)
                scale.factors[i] *= coming->factors[i];
            return true;
        }
        if (own.in.size() % channels != 0)
            return false;
        const size_t each = own.in.size() / channels; // elements of a channel that was flattened
        std::vector<double> both;
        for (size_t j = 0; j < own.in.size(); ++j)
            both.push_back(own.in[j] * (coming ? coming->factors[j / each] : 1));
        const double common = medianOfAll(both);
        size_t known = 0;
        for (size_t j = 0; j < both.size(); ++j) {
            const double error = own.inError[j] + (coming ? coming->errors[j / each] : 0);
            if (!isOne(both[j] / common, error))
                return false;
            known += error < kWellKnown;
        }
        if (coming && double(known) < kMostKnown * double(both.size()))
            return false;
        for (double& f : scale.factors)
            f *= common;
        return true;
    }

    void setScale(ValueId value, const Scale& scale, bool flattened = false)
    {
        m_scales[value.index()] = scale;
        if (flattened)
            m_scales[value.index()]->last = false;
        if (m_graph.isOutput(value))
            m_bad.insert(scale.source);
    }

    const Graph& m_graph;
    std::map<NodeId, const LayerConstant*> m_weights, m_biases;
    std::vector<std::optional<Scale>> m_scales; ///< by value; nothing: all are 1
    std::set<NodeId> m_bad; ///< layers whose factors stay
    std::vector<std::pair<NodeId, NodeId>> m_links; ///< layers, and whoever reads their factors
};

} // namespace

EqualizedLayers equalizedLayers(const Graph& graph, const std::vector<LayerConstant>& constants)
{
    return Equalization(graph, constants).found();
}

} // namespace qs
