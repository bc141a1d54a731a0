// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/blame.h"

#include "core/analysis/blame/layer_names.h"
#include "core/analysis/blame/value_cuts.h"
#include "core/analysis/blame/weight_blocks.h"
#include "core/analysis/decode/guesses.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/engine/run/sample_loop.h"
#include "core/prepare/readable_caches.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

using GivenValues = std::map<ValueId, Tensor>;

/// In the type and shape of the value that it takes the place of.
Tensor inPlaceOf(const Tensor& there, const Tensor& t)
{
    Tensor fitting = convertedTo(toPlain(t), there.dtype());
    return fitting.shape() == there.shape() ? fitting : fitting.reshaped(there.shape());
}

constexpr size_t kMostBlocked = 8; ///< nodes of which the blocks are told apart

/// Where a node stands among the units, and the border before it.
struct UnitPlace {
    size_t unit, border;
    NodeId node;
};

/// Some parts of a product's weight are those of the other model.
struct ExchangedParts {
    const BlockedProduct* product = nullptr; ///< null: none
    int64_t parts = 0; ///< the first ones
};

ValueId sideOf(const std::pair<ValueId, ValueId>& values, bool quantized)
{
    return quantized ? values.second : values.first;
}

/// One text, run by models that are partly float and partly quantized.
class BlameRun {
public:
    BlameRun(const ComparePair& pair, ValueId x, ValueId y, CutModels models, BlamedText text, const WorkContext& work)
        : m_pair(pair)
        , m_x(x)
        , m_y(y)
        , m_models(std::move(models))
        , m_text(std::move(text))
        , m_work(work)
    {
    }

    Result<TokenBlame> run()
    {
        const std::vector<std::shared_ptr<const Schedule>> beside { m_models.floatSchedule, m_models.quantSchedule };
        const size_t runs = 2 * m_models.cuts.size();
        QS_TRY(SampleLoop loop,
            SampleLoop::make(beside, asManyAtOnce(std::max<size_t>(runs, 1), m_work.threadCount()), m_work));
        QS_CHECK(loop.run({ 1 }, [&](size_t, const SampleWorker& worker) { return runBoth(worker); }));
        dropUnlike();
        const size_t cuts = m_models.cuts.size();
        m_forward.assign(cuts + 2, m_blame.floatDifference);
        m_backward.assign(cuts + 2, m_blame.quantDifference);
        m_forward.back() = m_blame.quantDifference;
        m_backward.back() = m_blame.floatDifference;
        QS_CHECK(loop.run({ 2 * cuts, "blame" }, [&](size_t index, const SampleWorker& worker) -> Status {
            const bool quantized = index % 2 == 1; // what lies behind the border
            QS_TRY((quantized ? m_backward : m_forward)[index / 2 + 1], mixed(index / 2 + 1, quantized, worker));
            return {};
        }));
        addUnits();
        QS_CHECK(addBlocks(loop));
        std::erase_if(m_blame.units, [](const BlamedUnit& unit) { return unit.moved() == 0; });
        return m_blame;
    }

private:
    /// Advances a run; what it makes of `given` is replaced, and the output of a product has some parts of its weight
    /// as the other model has them.
    Result<std::vector<float>> scores(
        Execution& run, bool quantized, const GivenValues& given, const ExchangedParts& exchanged = {})
    {
        const Schedule& schedule = quantized ? *m_models.quantSchedule : *m_models.floatSchedule;
        QS_CHECK(run.bind(quantized ? m_text.quantInputs : m_text.floatInputs));
        while (!run.finished()) {
            if (m_work.cancel.cancelled())
                return cancelled();
            QS_CHECK(run.step(&m_work.cancel));
            for (const ValueId out : schedule.tasks()[run.position() - 1].outputs) {
                if (const auto value = given.find(out); out.valid() && value != given.end())
                    run.set(out, inPlaceOf(run.get(out), value->second));
                else if (exchanged.product && out == sideOf(exchanged.product->output, quantized))
                    run.set(out,
                        withParts(run.get(out), run.get(sideOf(exchanged.product->input, quantized)),
                            *exchanged.product, exchanged.parts, quantized ? -1.0F : 1.0F));
            }
        }
        const ValueId output = quantized ? m_y : m_x;
        const Tensor all = toPlain(run.get(output));
        if (all.rank() != 3 || all.dim(0) <= int64_t(m_text.row) || all.count() == 0)
            return badInput("output '" + schedule.plan().graph().value(output).name + "' has shape "
                    + shapeText(all.shape()) + ", no scores by prompt and position",
                schedule.plan().model().path, "leave out --blame");
        return lastScores(all, int64_t(m_text.row));
    }

    double difference(const std::vector<float>& scores) const
    {
        return double(scores[size_t(m_blame.floatId)]) - double(scores[size_t(m_blame.quantId)]);
    }

    Status runBoth(const SampleWorker& worker)
    {
        Execution f = worker.execution(m_models.floatSchedule), q = worker.execution(m_models.quantSchedule);
        QS_TRY(const std::vector<float> xs, scores(f, false, {}));
        QS_TRY(const std::vector<float> ys, scores(q, true, {}));
        if (xs.size() != ys.size() || xs.size() < 2)
            return badInput("the models have " + std::to_string(xs.size()) + " and " + std::to_string(ys.size())
                    + " scores of the next token",
                m_pair.quantPlan->model().path, "leave out --blame");
        m_blame.floatId = bestToken(xs);
        m_blame.quantId = bestToken(ys);
        if (m_blame.floatId == m_blame.quantId) {
            std::vector<float> others = xs;
            others[size_t(m_blame.floatId)] = -std::numeric_limits<float>::infinity();
            m_blame.quantId = bestToken(others);
        }
        m_blame.floatDifference = difference(xs);
        m_blame.quantDifference = difference(ys);
        for (const ValueCut& cut : m_models.cuts)
            for (const auto& [x, y] : cut.values) {
                m_floats[x] = f.get(x);
                m_quants[y] = q.get(y);
            }
        return {};
    }

    /// Borders at values of unlike sizes are none.
    void dropUnlike()
    {
        std::erase_if(m_models.cuts, [&](const ValueCut& cut) {
            return std::ranges::any_of(
                cut.values, [&](const auto& v) { return m_floats[v.first].count() != m_quants[v.second].count(); });
        });
    }

    /// The difference by one model behind the border (the first: before all) and the other before it.
    Result<double> mixed(
        size_t border, bool quantized, const SampleWorker& worker, const ExchangedParts& exchanged = {})
    {
        GivenValues given;
        if (border > 0)
            for (const auto& [x, y] : m_models.cuts[border - 1].values)
                given.emplace(quantized ? y : x, quantized ? m_floats.at(x) : m_quants.at(y));
        Execution run = worker.execution(quantized ? m_models.quantSchedule : m_models.floatSchedule);
        QS_TRY(const std::vector<float> all, scores(run, quantized, given, exchanged));
        return difference(all);
    }

    /// A node that stands for those between two borders: the first with a weight, else the last.
    NodeId nodeOf(size_t from, size_t to) const
    {
        const auto& tasks = m_models.floatSchedule->tasks();
        const auto weighted
            = std::find_if(tasks.begin() + ptrdiff_t(from), tasks.begin() + ptrdiff_t(to), [&](const auto& task) {
                  return std::ranges::any_of(task.inputs, [&](ValueId in) {
                      const Tensor* const t = in.valid() ? m_pair.floatPlan->constant(in) : nullptr;
                      return t && t->rank() >= 2 && isFloat(t->dtype());
                  });
              });
        return weighted == tasks.begin() + ptrdiff_t(to) ? tasks[to - 1].node : weighted->node;
    }

    void addUnits()
    {
        std::vector<NodeId> nodes;
        std::vector<std::string> names;
        size_t from = 0;
        for (size_t i = 0; i <= m_models.cuts.size(); ++i) {
            const size_t to
                = i < m_models.cuts.size() ? m_models.cuts[i].tasks : m_models.floatSchedule->tasks().size();
            nodes.push_back(nodeOf(from, to));
            const Graph& graph = m_pair.floatPlan->graph();
            const Node& node = graph.node(nodes.back());
            names.push_back(node.name.empty() ? graph.value(node.outputs[0]).name : node.name);
            from = to;
        }
        const std::vector<std::string> layers = layersOf(names);
        std::map<std::string, size_t> places; // of layers in the list
        for (size_t i = 0; i < names.size(); ++i) {
            const double forward = m_forward[i + 1] - m_forward[i], backward = m_backward[i] - m_backward[i + 1];
            if (!layers[i].empty()) {
                const auto [place, added] = places.emplace(layers[i], m_blame.units.size());
                if (added)
                    m_blame.units.push_back({ layers[i], BlameKind::Layer, {}, 0.0, 0.0 });
                BlamedUnit& layer = m_blame.units[place->second];
                *layer.forward += forward;
                *layer.backward += backward;
            }
            m_blame.units.push_back({ names[i], BlameKind::Node, layers[i], forward, backward });
            m_places.push_back({ m_blame.units.size() - 1, i, nodes[i] });
            if (const std::string cache = codedCache(nodes[i]); !cache.empty())
                m_blame.units.push_back({ cache, BlameKind::Cache, names[i], forward, backward });
        }
    }

    /// What the partner of a node remembers as codes: its keys and values; "" where it does not.
    std::string codedCache(NodeId node) const
    {
        const auto partner = m_models.partners.find(m_pair.floatPlan->graph().node(node).outputs[0]);
        const Graph& graph = m_pair.quantPlan->graph();
        const NodeId maker = partner == m_models.partners.end() ? NodeId() : graph.value(partner->second).producer;
        return maker.valid() ? codedCacheName(graph, graph.node(maker)) : std::string();
    }

    /// The nodes that moved most and have blocks, with these as units behind them.
    Status addBlocks(SampleLoop& loop)
    {
        std::vector<UnitPlace> places = m_places;
        std::erase_if(places, [&](const UnitPlace& place) { return m_blame.units[place.unit].moved() == 0; });
        std::ranges::stable_sort(places, [&](const UnitPlace& a, const UnitPlace& b) {
            return m_blame.units[a.unit].moved() > m_blame.units[b.unit].moved();
        });
        std::map<size_t, std::vector<BlamedUnit>> blocks; // behind the unit
        for (const UnitPlace& place : places) {
            if (blocks.size() == kMostBlocked)
                break;
            if (const auto product = blockedProduct(m_pair, m_models, place.node)) {
                QS_TRY(blocks[place.unit], blocksOf(place, *product, loop));
            }
        }
        std::vector<BlamedUnit> units;
        for (size_t i = 0; i < m_blame.units.size(); ++i) {
            units.push_back(m_blame.units[i]);
            if (const auto more = blocks.find(i); more != blocks.end())
                units.insert(units.end(), more->second.begin(), more->second.end());
        }
        m_blame.units = std::move(units);
        return {};
    }

    Result<std::vector<BlamedUnit>> blocksOf(const UnitPlace& place, const BlockedProduct& product, SampleLoop& loop)
    {
        const auto parts = size_t(product.parts());
        std::vector<double> forward(parts + 1, m_forward[place.border]), backward(parts + 1, m_backward[place.border]);
        QS_CHECK(loop.run({ 2 * parts, "blame" }, [&](size_t index, const SampleWorker& worker) -> Status {
            const bool quantized = index % 2 == 1;
            const size_t part = index / 2 + 1;
            QS_TRY((quantized ? backward : forward)[part],
                mixed(place.border, quantized, worker, { &product, int64_t(part) }));
            return {};
        }));
        std::vector<BlamedUnit> units;
        for (size_t part = 0; part < parts; ++part)
            units.push_back({ product.partName(int64_t(part)), BlameKind::WeightBlock, m_blame.units[place.unit].unit,
                forward[part + 1] - forward[part], backward[part] - backward[part + 1] });
        return units;
    }

    const ComparePair& m_pair;
    const ValueId m_x, m_y;
    CutModels m_models;
    const BlamedText m_text;
    const WorkContext& m_work;
    GivenValues m_floats, m_quants; ///< at the borders
    std::vector<double> m_forward, m_backward; ///< by border: before all, each, behind all
    std::vector<UnitPlace> m_places; ///< of the nodes
    TokenBlame m_blame;
};

} // namespace

const char* blameKindName(BlameKind kind)
{
    switch (kind) {
    case BlameKind::Layer:
        return "layer";
    case BlameKind::WeightBlock:
        return "weight_block";
    case BlameKind::Cache:
        return "cache";
    case BlameKind::Node:
        break;
    }
    return "node";
}

Result<TokenBlame> blameToken(const ComparePair& pair, ValueId x, ValueId y, const DataSource& data,
    const BlameRequest& request, const WorkContext& work)
{
    QS_TRY(BlamedText text, blamedText(pair, x, y, data, request, work));
    QS_TRY(CutModels models, cutModels(pair, x, y));
    QS_TRY(TokenBlame blame, BlameRun(pair, x, y, std::move(models), std::move(text), work).run());
    blame.prompt = request.prompt;
    blame.position = request.position;
    return blame;
}

} // namespace qs
