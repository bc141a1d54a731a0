// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/pair_detail.h"

#include "core/analysis/lab/pair_runner.h"
#include "core/analysis/rows/similarity.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

size_t channelAxis(size_t rank, bool channelsFirst) { return rank == 3 && !channelsFirst ? 2 : rank > 1 ? 1 : 0; }

/// Elements of one sample, added to channels, places and magnitudes.
class DetailMeter {
public:
    DetailMeter(PairDetail& detail, bool channelsFirst)
        : m_detail(detail)
        , m_channelsFirst(channelsFirst)
    {
    }

    void add(const PairRunner::Values& values)
    {
        if (m_detail.samples == 0)
            begin(values.shape);
        else if (values.shape != m_detail.shape)
            return; // sizes that depend on the sample have no common places
        ++m_detail.samples;
        const size_t rows = m_detail.map.rows, columns = m_detail.map.columns;
        for (size_t i = 0; i < values.x.size(); ++i) {
            const float x = values.x[i], y = values.y[i];
            if (!std::isfinite(x) || !std::isfinite(y))
                continue;
            m_detail.channels[i / m_inner % m_detail.channels.size()].add(x, y);
            m_places[i % (rows * columns)].add(x, y);
            m_bands.add(x, y);
        }
    }

    void finish()
    {
        for (const PartSums& place : m_places) {
            m_detail.map.error.push_back(place.rmse());
            m_detail.map.signal.push_back(place.count ? std::sqrt(place.xx / double(place.count)) : 0);
        }
        m_detail.bands = m_bands.take();
    }

private:
    void begin(const Shape& shape)
    {
        m_detail.shape = shape;
        const size_t rank = shape.size();
        m_detail.channelAxis = channelAxis(rank, m_channelsFirst);
        const bool has = rank > 1;
        m_detail.channels.resize(has ? size_t(shape[m_detail.channelAxis]) : 1);
        for (size_t d = m_detail.channelAxis + 1; has && d < rank; ++d)
            m_inner *= size_t(shape[d]);
        m_detail.map.rows = rank > 1 ? size_t(shape[rank - 2]) : 1;
        m_detail.map.columns = rank > 0 ? size_t(shape[rank - 1]) : 1;
        m_places.resize(m_detail.map.rows * m_detail.map.columns);
    }

    PairDetail& m_detail;
    const bool m_channelsFirst;
    size_t m_inner = 1; ///< elements after the channel axis
    std::vector<PartSums> m_places;
    MagnitudeBands m_bands;
};

/// Whether channels come before one spatial axis: behind a convolution they do, behind a product they come last.
bool behindConvolution(const Graph& graph, ValueId value)
{
    for (size_t steps = 0; value.valid() && steps < graph.nodes().size(); ++steps) {
        const NodeId producer = graph.value(value).producer;
        if (!producer.valid() || !graph.node(producer).hasInput(0))
            return false;
        const std::string& type = graph.node(producer).opType;
        if (type.starts_with("Conv"))
            return true;
        if (type == "MatMul" || type == "Gemm" || type == "Transpose" || type == "Reshape" || type == "LSTM")
            return false;
        value = graph.node(producer).inputs[0];
    }
    return false;
}

double absMax(const PartSums& part) { return std::max(std::fabs(part.lowX), std::fabs(part.highX)); }

/// Width that a quantizer has to represent: zero always lies inside.
double spanOf(double low, double high) { return std::max(high, 0.0) - std::min(low, 0.0); }

} // namespace

size_t channelAxisOf(const Graph& graph, ValueId value, size_t rank)
{
    return channelAxis(rank, rank == 3 && behindConvolution(graph, value));
}

ErrorMap ErrorMap::reduced(size_t most) const
{
    const size_t down = (rows + most - 1) / most, across = (columns + most - 1) / most;
    if (down <= 1 && across <= 1)
        return *this;
    ErrorMap small { (rows + down - 1) / down, (columns + across - 1) / across, {}, {} };
    for (size_t r = 0; r < small.rows; ++r)
        for (size_t c = 0; c < small.columns; ++c) {
            double ee = 0, xx = 0, n = 0;
            for (size_t i = r * down; i < std::min((r + 1) * down, rows); ++i)
                for (size_t j = c * across; j < std::min((c + 1) * across, columns); ++j, ++n) {
                    ee += error[i * columns + j] * error[i * columns + j];
                    xx += signal[i * columns + j] * signal[i * columns + j];
                }
            small.error.push_back(std::sqrt(ee / n));
            small.signal.push_back(std::sqrt(xx / n));
        }
    return small;
}

Number PairDetail::perChannelGainDb() const
{
    double low = 0, high = 0, squares = 0, elements = 0;
    for (const PartSums& channel : channels) {
        low = std::min(low, channel.lowX);
        high = std::max(high, channel.highX);
        squares += double(channel.count) * std::pow(spanOf(channel.lowX, channel.highX), 2);
        elements += double(channel.count);
    }
    if (channels.size() < 2 || elements == 0)
        return std::nullopt;
    return powerRatioDb(std::pow(spanOf(low, high), 2), squares / elements);
}

Number PairDetail::rangeRatio() const
{
    std::vector<double> reach;
    for (const PartSums& channel : channels)
        reach.push_back(absMax(channel));
    if (reach.size() < 2)
        return std::nullopt;
    std::ranges::sort(reach);
    const double median = reach[reach.size() / 2];
    return median > 0 ? Number(reach.back() / median) : std::nullopt;
}

Result<PairDetail> pairDetail(const DetailInputs& inputs, ValueId floatValue, ValueId quantValue,
    std::span<const size_t> samples, const WorkContext& work)
{
    auto pairs = planPairs(inputs.pair);
    std::erase_if(pairs, [&](const PairPlan& p) { return p.x != floatValue || p.y != quantValue; });
    if (pairs.empty())
        return badInput("this tensor has no partner that could be run", {}, "choose another tensor");
    pairs.resize(1);
    QS_TRY(PairRunner runner, PairRunner::make(inputs, std::move(pairs)));
    PairDetail detail;
    DetailMeter meter(detail, behindConvolution(inputs.pair.floatPlan->graph(), floatValue));
    QS_CHECK(runner.run(samples, work, [&](size_t, const std::vector<PairRunner::Values>& values) {
        if (!values[0].x.empty())
            meter.add(values[0]);
    }));
    meter.finish();
    return detail;
}

Result<std::vector<SampleOutput>> sampleOutputs(const DetailInputs& inputs, size_t sample, const WorkContext& work)
{
    std::vector<PairPlan> pairs;
    std::vector<std::string> names;
    for (const OutputPair& out : pairOutputs(inputs.pair)) {
        PairPlan plan;
        plan.x = out.x;
        plan.y = out.y;
        if (out.quantizer)
            plan.params = inputs.pair.quantView->quantizers()[*out.quantizer].params;
        pairs.push_back(std::move(plan));
        names.push_back(out.name);
    }
    QS_TRY(PairRunner runner, PairRunner::make(inputs, std::move(pairs)));
    std::vector<SampleOutput> outputs;
    const size_t wanted[] { sample };
    QS_CHECK(runner.run(wanted, work, [&](size_t, const std::vector<PairRunner::Values>& values) {
        for (size_t i = 0; i < values.size(); ++i)
            outputs.push_back({ names[i], values[i].shape, values[i].x, values[i].y });
    }));
    return outputs;
}

} // namespace qs
