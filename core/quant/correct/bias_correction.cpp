// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/bias_correction.h"

#include "core/base/work/parallel.h"
#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/correct/layers.h"
#include "core/quant/correct/some_feeds.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using Means = std::vector<double>; ///< by channel

/// A layer and the value of the quantized graph that its output is there, before anything rounds it.
struct Corrected {
    LinearLayer layer;
    ValueId value;
    size_t task = 0; ///< that makes it
    std::vector<Means> wanted; ///< by run: of the float model
    std::vector<double> shift; ///< to take out
};

/// Elements from one to the next of a channel, in a plain tensor.
int64_t innerSize(const Tensor& t, bool channelsLast)
{
    int64_t inner = 1;
    for (size_t d = 2; !channelsLast && d < t.rank(); ++d)
        inner *= t.dim(d);
    return inner;
}

template <class Each> void forRuns(const Tensor& t, bool channelsLast, size_t channels, const Each& each)
{
    const auto inner = static_cast<size_t>(innerSize(t, channelsLast));
    const auto count = static_cast<size_t>(t.count());
    size_t channel = 0;
    for (size_t at = 0; at < count; at += inner) {
        each(at, inner, channel);
        channel = channel + 1 == channels ? 0 : channel + 1;
    }
}

Means channelMeans(const Tensor& value, bool channelsLast, size_t channels)
{
    const Tensor plain = toPlain(value);
    const auto x = plain.data<float>();
    Means sums(channels, 0);
    forRuns(plain, channelsLast, channels, [&](size_t at, size_t n, size_t c) {
        double sum = 0;
        for (size_t i = at; i < at + n; ++i)
            sum += double(x[i]);
        sums[c] += sum;
    });
    const double each = double(channels) / double(std::max<int64_t>(plain.count(), 1));
    for (double& s : sums)
        s *= each;
    return sums;
}

Tensor without(const Tensor& value, bool channelsLast, std::span<const double> shift)
{
    const Tensor plain = toPlain(value);
    const auto x = plain.data<float>();
    Tensor moved = Tensor::allocate(DType::Float32, plain.shape());
    const auto y = moved.fill<float>();
    forRuns(plain, channelsLast, shift.size(), [&](size_t at, size_t n, size_t c) {
        for (size_t i = at; i < at + n; ++i)
            y[i] = static_cast<float>(double(x[i]) - shift[c]);
    });
    return moved;
}

/// The mean over the runs, the smaller the more uncertain they leave it.
double certainMean(std::span<const double> samples)
{
    const auto n = static_cast<double>(samples.size());
    double mean = 0, squares = 0;
    for (double s : samples)
        mean += s / n;
    for (double s : samples)
        squares += (s - mean) * (s - mean);
    if (!std::isfinite(mean) || !std::isfinite(squares) || mean == 0)
        return 0;
    const double uncertain = samples.size() < 2 ? 0 : squares / (n - 1) / n;
    return mean * std::max(0.0, 1 - uncertain / (mean * mean));
}

class BiasCorrector {
public:
    BiasCorrector(GraphDraft& draft, const BiasCorrectionOptions& options, CalibrationRun run)
        : m_draft(draft)
        , m_links(draft)
        , m_options(options)
        , m_run(std::move(run))
        , m_all(m_run.data)
    {
    }

    Result<BiasCorrectionReport> correct(const GraphDraft& quantized, const std::vector<bool>& chosen)
    {
        QS_TRY(const auto model, quantized.build());
        const auto plan = Plan::make(model);
        findLayers(plan->graph(), chosen);
        if (m_layers.empty())
            return BiasCorrectionReport {};
        Demand demand;
        for (const Corrected& c : m_layers)
            demand.values.push_back(c.value);
        QS_TRY(m_schedule, Schedule::make(plan, demand));
        orderLayers();
        QS_CHECK(chooseFeeds());
        QS_CHECK(measureFloat("look at means"));
        QS_CHECK(runQuantized());
        return writeBiases();
    }

private:
    void findLayers(const Graph& graph, const std::vector<bool>& chosen)
    {
        std::unordered_map<std::string, ValueId> outputs;
        for (const Node& node : graph.nodes())
            if (node.outputs.size() == 1)
                outputs.emplace(node.opType + "\n" + node.name, node.outputs.front());
        for (LinearLayer& layer : linearLayers(m_draft, m_links)) {
            if (!layer.takesBias || !chosen[layer.node])
                continue;
            // The quantizer may rename what a node makes, or rebuild the node and keep the name of the value.
            const DraftNode& last = m_draft.nodes[layer.biasNode];
            const auto it = outputs.find(last.opType + "\n" + last.name);
            const ValueId value = it != outputs.end() ? it->second : graph.findValue(layer.output);
            if (value.valid() && graph.value(value).producer.valid())
                m_layers.push_back({ std::move(layer), value, 0, {}, {} });
        }
    }

    void orderLayers()
    {
        const auto& tasks = m_schedule->tasks();
        std::erase_if(m_layers, [&](Corrected& c) {
            const auto makes = [&](const Schedule::Task& task) {
                return std::ranges::find(task.outputs, c.value) != task.outputs.end();
            };
            c.task = size_t(std::ranges::find_if(tasks, makes) - tasks.begin());
            return c.task == tasks.size();
        });
        std::ranges::stable_sort(m_layers, {}, &Corrected::task);
    }

    /// As many runs as fit, by what one of them needs.
    Status chooseFeeds()
    {
        m_run.data = std::make_shared<SomeFeeds>(m_all, 1, true);
        QS_CHECK(measureFloat({}));
        BufferPool pool;
        Execution first(m_schedule, pool);
        QS_TRY(const std::vector<Tensor> inputs, inputsOf(0));
        QS_CHECK(first.bind(inputs));
        QS_CHECK(first.runAll(m_run.work.cancel));
        const uint64_t each = std::max<uint64_t>(pool.peakBytes(), 1);
        const auto most = static_cast<size_t>(std::clamp<uint64_t>(m_options.bytes / each, 1, m_options.mostFeeds));
        m_run.data = std::make_shared<SomeFeeds>(m_all, most, !m_run.carry.empty());
        return {};
    }

    /// Means of the float model, and the states that its runs begin with.
    Status measureFloat(std::string_view phase)
    {
        CalibrationRun run = m_run;
        run.tensors.clear();
        for (Corrected& c : m_layers) {
            run.tensors.push_back(c.layer.output);
            c.wanted.assign(run.data->feeds(), {});
        }
        m_states.assign(run.carry.size(), std::vector<Tensor>(run.data->feeds()));
        for (const auto& [out, in] : run.carry)
            run.tensors.push_back(in);
        QS_TRY(ActivationPass pass, ActivationPass::make(run));
        const auto see = [&](size_t watched, const Tensor& value, size_t feed, size_t) -> Status {
            if (watched >= m_layers.size()) {
                m_states[watched - m_layers.size()][feed] = value;
                return {};
            }
            Corrected& c = m_layers[watched];
            c.wanted[feed] = channelMeans(value, c.layer.channelsLast, size_t(c.layer.layout.outputs));
            return {};
        };
        return pass.run(phase, see);
    }

    Result<std::vector<Tensor>> inputsOf(size_t feed) const
    {
        QS_TRY(const Feed given, m_run.data->feed(feed));
        std::vector<Tensor> inputs;
        size_t next = 0;
        const Graph& graph = m_schedule->plan().graph();
        for (ValueId id : graph.inputs()) {
            const auto carried
                = std::ranges::find(m_run.carry, graph.value(id).name, &std::pair<std::string, std::string>::second);
            if (carried != m_run.carry.end())
                inputs.push_back(m_states[size_t(carried - m_run.carry.begin())][feed]);
            else
                inputs.push_back(next < given.inputs.size() ? given.inputs[next++] : Tensor());
        }
        return inputs;
    }

    Status runQuantized()
    {
        const WorkContext& work = m_run.work;
        const size_t feeds = m_run.data->feeds();
        std::vector<std::unique_ptr<BufferPool>> pools;
        std::vector<Execution> runs;
        for (size_t f = 0; f < feeds; ++f) {
            pools.push_back(std::make_unique<BufferPool>());
            runs.emplace_back(m_schedule, *pools.back());
            QS_TRY(const std::vector<Tensor> inputs, inputsOf(f));
            QS_CHECK(runs.back().bind(inputs));
        }
        for (size_t l = 0; l < m_layers.size(); ++l) {
            Corrected& c = m_layers[l];
            std::vector<Means> found(feeds);
            const auto advance = [&](size_t f, size_t) -> Status {
                while (runs[f].position() <= c.task)
                    QS_CHECK(runs[f].step(&work.cancel));
                found[f] = channelMeans(runs[f].get(c.value), c.layer.channelsLast, size_t(c.layer.layout.outputs));
                return {};
            };
            QS_CHECK(parallelTry(feeds, work.threadCount(), work.cancel, advance));
            std::vector<double> differences(feeds);
            for (size_t channel = 0; channel < found.front().size(); ++channel) {
                for (size_t f = 0; f < feeds; ++f)
                    differences[f] = found[f][channel] - c.wanted[f][channel];
                c.shift.push_back(certainMean(differences));
            }
            QS_CHECK(parallelTry(feeds, work.threadCount(), work.cancel, [&](size_t f, size_t) -> Status {
                runs[f].set(c.value, without(runs[f].get(c.value), c.layer.channelsLast, c.shift));
                runs[f].release(c.value);
                return {};
            }));
            work.tell("correct biases", l + 1, m_layers.size());
        }
        return {};
    }

    BiasCorrectionReport writeBiases()
    {
        BiasCorrectionReport report { m_layers.size(), 0, m_run.data->feeds() };
        for (const Corrected& c : m_layers) {
            const Tensor* old = c.layer.bias.empty() ? nullptr : m_draft.constant(c.layer.bias);
            std::vector<float> values = old ? toFloats(*old) : std::vector<float>(c.shift.size(), 0);
            size_t changed = 0;
            for (size_t channel = 0; channel < values.size(); ++channel) {
                const auto moved
                    = static_cast<float>(double(values[channel]) - c.shift[channel] / double(c.layer.biasFactor));
                changed += moved != values[channel];
                values[channel] = moved;
            }
            if (changed == 0)
                continue;
            report.changed += changed;
            const Shape shape = old ? old->shape() : Shape { int64_t(values.size()) };
            replaceConstant(m_draft, m_links, c.layer.biasNode, c.layer.biasSlot, Tensor::of<float>(shape, values));
        }
        return report;
    }

    GraphDraft& m_draft;
    DraftLinks m_links;
    const BiasCorrectionOptions& m_options;
    CalibrationRun m_run;
    std::shared_ptr<const DataSource> m_all;
    std::vector<Corrected> m_layers;
    std::shared_ptr<const Schedule> m_schedule;
    std::vector<std::vector<Tensor>> m_states; ///< by carried input and run
};

} // namespace

Result<BiasCorrectionReport> correctBiases(GraphDraft& draft, const GraphDraft& quantized,
    const std::vector<bool>& chosen, const BiasCorrectionOptions& options, CalibrationRun run)
{
    return BiasCorrector(draft, options, std::move(run)).correct(quantized, chosen);
}

} // namespace qs
