// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/blame.h"

#include "core/analysis/blame/layer_names.h"
#include "core/analysis/blame/mixed_runs.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/prepare/readable_caches.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr size_t kMostBlocked = 8; ///< nodes of which the blocks are told apart

/// A unit between two borders.
struct UnitPlace {
    size_t from = 0, to = 0;
    BlamedUnit unit;
    NodeId node; ///< that stands for it; of a layer none
};

class Blaming {
public:
    Blaming(const ComparePair& pair, MixedRuns runs, const WorkContext& work)
        : m_pair(pair)
        , m_runs(std::move(runs))
        , m_work(work)
    {
    }

    Result<TokenBlame> run()
    {
        const std::vector<std::shared_ptr<const Schedule>> beside { m_runs.models().floatSchedule,
            m_runs.models().quantSchedule };
        const size_t runs = 2 * m_runs.lastBorder();
        QS_TRY(SampleLoop loop, SampleLoop::make(beside, asManyAtOnce(runs, m_work.threadCount()), m_work));
        QS_CHECK(loop.run({ 1 }, [&](size_t, const SampleWorker& worker) { return m_runs.runBoth(worker); }));
        const Rivals& rivals = m_runs.rivals();
        findPlaces();
        QS_CHECK(measure(loop));
        TokenBlame blame { 0, 0, rivals.floatId, rivals.quantId, rivals.floatDifference, rivals.quantDifference, {} };
        QS_TRY(blame.units, allUnits(loop));
        return blame;
    }

private:
    /// A node that stands for those between two borders: the first with a weight, else the last.
    NodeId nodeOf(size_t from, size_t to) const
    {
        const auto& tasks = m_runs.models().floatSchedule->tasks();
        const auto weighted
            = std::find_if(tasks.begin() + ptrdiff_t(from), tasks.begin() + ptrdiff_t(to), [&](const auto& task) {
                  return std::ranges::any_of(task.inputs, [&](ValueId in) {
                      const Tensor* const t = in.valid() ? m_pair.floatPlan->constant(in) : nullptr;
                      return t && t->rank() >= 2 && isFloat(t->dtype());
                  });
              });
        return weighted == tasks.begin() + ptrdiff_t(to) ? tasks[to - 1].node : weighted->node;
    }

    /// The nodes between each two borders, and before the first of a layer's the layer.
    void findPlaces()
    {
        const CutModels& models = m_runs.models();
        const Graph& graph = m_pair.floatPlan->graph();
        std::vector<NodeId> nodes;
        std::vector<std::string> names;
        size_t from = 0;
        for (size_t i = 0; i < m_runs.lastBorder(); ++i) {
            const size_t to = i < models.cuts.size() ? models.cuts[i].tasks : models.floatSchedule->tasks().size();
            nodes.push_back(nodeOf(from, to));
            const Node& node = graph.node(nodes.back());
            names.push_back(node.name.empty() ? graph.value(node.outputs[0]).name : node.name);
            from = to;
        }
        const std::vector<std::string> layers = layersOf(names);
        std::map<std::string, size_t> known; // of layers in the list
        for (size_t i = 0; i < names.size(); ++i) {
            if (!layers[i].empty()) {
                const auto [place, added] = known.emplace(layers[i], m_places.size());
                if (added)
                    m_places.push_back({ i, i, { layers[i], BlameKind::Layer, {}, {}, {}, {}, {} }, {} });
                UnitPlace& layer = m_places[place->second];
                layer.to = layer.to == i ? i + 1 : 0; // one whose nodes stand apart has no end
            }
            m_places.push_back({ i, i + 1, { names[i], BlameKind::Node, layers[i], {}, {}, {}, {} }, nodes[i] });
        }
    }

    /// Runs from each border, both ways, and what that says of the units that begin there.
    Status measure(SampleLoop& loop)
    {
        const Rivals& rivals = m_runs.rivals();
        const size_t borders = m_runs.lastBorder();
        std::vector<std::vector<size_t>> ends(borders);
        for (const UnitPlace& place : m_places)
            if (place.to > place.from)
                ends[place.from].push_back(place.to);
        std::vector<MixedDifferences> forward(borders), backward(borders);
        QS_CHECK(loop.run({ 2 * borders, "blame" }, [&](size_t index, const SampleWorker& worker) -> Status {
            const bool quantized = index % 2 == 1; // what lies behind the border
            QS_TRY(
                (quantized ? backward : forward)[index / 2], m_runs.at(index / 2, quantized, ends[index / 2], worker));
            return {};
        }));
        forward[0].behind = rivals.floatDifference;
        backward[0].behind = rivals.quantDifference;
        forward.push_back({ rivals.quantDifference, {} });
        backward.push_back({ rivals.floatDifference, {} });
        std::vector<size_t> told(borders, 0); // of the ends of a border
        for (UnitPlace& place : m_places)
            if (place.to > place.from) {
                const size_t end = told[place.from]++;
                place.unit.forward = forward[place.to].behind - forward[place.from].behind;
                place.unit.backward = backward[place.from].behind - backward[place.to].behind;
                place.unit.alone = backward[place.from].between[end] - rivals.floatDifference;
                place.unit.restored = rivals.quantDifference - forward[place.from].between[end];
            }
        for (MixedDifferences& mixed : forward)
            m_forward.push_back(mixed.behind);
        for (MixedDifferences& mixed : backward)
            m_backward.push_back(mixed.behind);
        sumLayersApart();
        return {};
    }

    /// Layers whose nodes stand apart are what these sum to.
    void sumLayersApart()
    {
        for (UnitPlace& layer : m_places) {
            if (layer.unit.kind != BlameKind::Layer || layer.to > layer.from)
                continue;
            layer.unit.forward = layer.unit.backward = 0.0;
            for (const UnitPlace& place : m_places)
                if (place.unit.parent == layer.unit.unit) {
                    *layer.unit.forward += *place.unit.forward;
                    *layer.unit.backward += *place.unit.backward;
                }
        }
    }

    /// What the partner of a node remembers as codes: its keys and values; "" where it does not.
    std::string codedCache(NodeId node) const
    {
        const CutModels& models = m_runs.models();
        const auto partner = models.partners.find(m_pair.floatPlan->graph().node(node).outputs[0]);
        const Graph& graph = m_pair.quantPlan->graph();
        const NodeId maker = partner == models.partners.end() ? NodeId() : graph.value(partner->second).producer;
        return maker.valid() ? codedCacheName(graph, graph.node(maker)) : std::string();
    }

    /// Those that move anything; behind a node what it remembers, and the blocks of the nodes that moved most.
    Result<std::vector<BlamedUnit>> allUnits(SampleLoop& loop)
    {
        std::vector<const UnitPlace*> moving;
        for (const UnitPlace& place : m_places)
            if (place.node.valid() && place.unit.moved() > 0)
                moving.push_back(&place);
        std::ranges::stable_sort(
            moving, [](const UnitPlace* a, const UnitPlace* b) { return a->unit.moved() > b->unit.moved(); });
        std::map<const UnitPlace*, std::vector<BlamedUnit>> blocks; // behind the node
        for (const UnitPlace* const place : moving) {
            if (blocks.size() == kMostBlocked)
                break;
            if (const auto product = blockedProduct(m_pair, m_runs.models(), place->node)) {
                QS_TRY(blocks[place], blocksOf(*place, *product, loop));
            }
        }
        std::vector<BlamedUnit> units;
        for (const UnitPlace& place : m_places) {
            units.push_back(place.unit);
            if (const std::string cache = place.node.valid() ? codedCache(place.node) : ""; !cache.empty()) {
                units.push_back(place.unit);
                units.back().unit = cache;
                units.back().kind = BlameKind::Cache;
                units.back().parent = place.unit.unit;
            }
            if (const auto more = blocks.find(&place); more != blocks.end())
                units.insert(units.end(), more->second.begin(), more->second.end());
        }
        std::erase_if(units, [](const BlamedUnit& unit) { return unit.moved() == 0; });
        return units;
    }

    Result<std::vector<BlamedUnit>> blocksOf(const UnitPlace& place, const BlockedProduct& product, SampleLoop& loop)
    {
        const auto parts = size_t(product.parts());
        std::vector<double> forward(parts + 1, m_forward[place.from]), backward(parts + 1, m_backward[place.from]);
        QS_CHECK(loop.run({ 2 * parts, "blame" }, [&](size_t index, const SampleWorker& worker) -> Status {
            const bool quantized = index % 2 == 1;
            const size_t part = index / 2 + 1;
            QS_TRY(const MixedDifferences mixed,
                m_runs.at(place.from, quantized, {}, worker, { &product, int64_t(part) }));
            (quantized ? backward : forward)[part] = mixed.behind;
            return {};
        }));
        std::vector<BlamedUnit> units;
        for (size_t part = 0; part < parts; ++part)
            units.push_back({ product.partName(int64_t(part)), BlameKind::WeightBlock, place.unit.unit,
                forward[part + 1] - forward[part], backward[part] - backward[part + 1], {}, {} });
        return units;
    }

    const ComparePair& m_pair;
    MixedRuns m_runs;
    const WorkContext& m_work;
    std::vector<UnitPlace> m_places; ///< in graph order, a layer before its nodes
    std::vector<double> m_forward, m_backward; ///< by border: what lies behind it float, quantized
};

} // namespace

double BlamedUnit::moved() const
{
    double sum = 0;
    int there = 0;
    for (const Number& number : { forward, backward, alone, restored })
        if (number) {
            sum += std::fabs(*number);
            ++there;
        }
    return there ? sum / there : 0;
}

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
    MixedRuns runs(pair, x, y, std::move(models), std::move(text), work.cancel);
    QS_TRY(TokenBlame blame, Blaming(pair, std::move(runs), work).run());
    blame.prompt = request.prompt;
    blame.position = request.position;
    return blame;
}

} // namespace qs
