// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/conv_bands.h"

#include "core/engine/fuse/reader_counts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/prepared_conv.h"
#include "core/engine/lower/common/window_shape.h"
#include "core/kernels/convolution/conv_bands.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

namespace qs {

namespace {

/// A convolution with what follows it in its chain.
struct Stage {
    std::string name;
    Node node; ///< the convolution
    WindowAttributes attributes;
    Tensor weights, bias; ///< as float32
    SumEpilogue epilogue; ///< without the addend
    std::optional<size_t> addend; ///< input of the unit
    LoweredNode lowered; ///< of the whole stage
    std::vector<std::optional<size_t>> inputs; ///< of `lowered`: input of the unit; nothing: what the stage before made
    std::vector<bool> absent; ///< by input
};

struct Bands {
    std::array<Stage, 3> stages;
};

std::optional<ConvShape> shapeOf(const Stage& stage, const Shape& x)
{
    const Tensor& w = stage.weights;
    ConvShape s;
    s.groups = stage.node.attributes.integer("group", 1);
    s.filters = w.dim(0);
    if (x.size() != 4 || s.groups < 1 || x[1] != w.dim(1) * s.groups || s.filters % s.groups != 0
        || (stage.bias.valid() && stage.bias.count() != s.filters))
        return {};
    auto window = windowShape(stage.node, stage.attributes, WindowKind::Conv, x, std::span(w.shape()).subspan(2));
    if (!window.ok())
        return {};
    s.window = std::move(window.value());
    return s;
}

/// Null when the shapes do not suit.
std::shared_ptr<const PreparedConv> prepare(const Bands& bands, const Shape& x, Shape& output)
{
    ConvTriple triple;
    output = x;
    for (size_t i = 0; i < 3; ++i) {
        const Stage& stage = bands.stages[i];
        const auto shape = shapeOf(stage, output);
        if (!shape || !suitsRowConv(*shape))
            return nullptr;
        output = windowOutput(shape->window, shape->filters);
        if (elementCount(output).value_or(0) == 0)
            return nullptr;
        triple.shapes[i] = *shape;
        if (i < 2)
            triple.epilogues[i] = stage.epilogue;
    }
    if (!suitsConvBands(triple.shapes))
        return nullptr;
    for (size_t i = 0; i < 3; ++i)
        triple.weights[i] = packRowConv(
            triple.shapes[i], bands.stages[i].weights.data<float>().data(), dataOrNull<float>(bands.stages[i].bias));
    return prepareConvBands(triple);
}

/// What is prepared for the shapes met so far.
class Prepared {
public:
    struct Entry {
        std::shared_ptr<const PreparedConv> conv; ///< null: does not suit
        Shape output;
    };
    Entry get(const Bands& bands, const Shape& x)
    {
        constexpr size_t kKeptShapes = 16;
        const std::lock_guard lock(m_mutex);
        if (const auto known = m_entries.find(x); known != m_entries.end())
            return known->second;
        if (m_entries.size() >= kKeptShapes)
            m_entries.clear();
        Entry entry;
        entry.conv = prepare(bands, x, entry.output);
        return m_entries.emplace(x, entry).first->second;
    }

private:
    std::mutex m_mutex;
    std::map<Shape, Entry> m_entries;
};

Status runOneByOne(const Bands& bands, StepContext& c)
{
    Tensor made;
    for (const Stage& stage : bands.stages) {
        std::vector<const Tensor*> inputs;
        for (size_t i = 0; i < stage.inputs.size(); ++i)
            inputs.push_back(stage.absent[i] ? nullptr : stage.inputs[i] ? c.input(*stage.inputs[i]) : &made);
        Tensor next;
        StepContext own(inputs, std::span(&next, 1), c.pool(), {}, c.cancelToken());
        own.useTeam(c.team());
        if (Status status = stage.lowered.run(own); !status.ok()) {
            Issue issue = std::move(status).issue();
            if (issue.node.empty())
                issue.node = stage.name;
            return issue;
        }
        made = std::move(next);
    }
    c.setOutput(0, std::move(made));
    return {};
}

Status runBands(const Bands& bands, Prepared& prepared, StepContext& c)
{
    const Stage& last = bands.stages[2];
    const Tensor* x = c.input(*bands.stages[0].inputs[0]);
    if (!x || x->dtype() != DType::Float32 || x->count() == 0)
        return runOneByOne(bands, c);
    const Prepared::Entry entry = prepared.get(bands, x->shape());
    const Tensor* addend = last.addend ? c.input(*last.addend) : nullptr;
    const bool adds = addend && addend->dtype() == DType::Float32 && addend->shape() == entry.output;
    if (!entry.conv || (last.addend && !adds))
        return runOneByOne(bands, c);
    const Tensor in = c.toLayout(*x, Layout::ChannelsLast);
    const Tensor other = adds ? c.toLayout(*addend, Layout::ChannelsLast) : Tensor();
    Tensor y = c.allocate(DType::Float32, entry.output, Layout::ChannelsLast);
    SumEpilogue sums = last.epilogue;
    sums.addend = dataOrNull<float>(other);
    const EpilogueFn epilogue = [&](const Tensor&) { return Epilogue { {}, sums, {}, {} }; };
    QS_CHECK(runPrepared(c, *entry.conv, in.data<float>().data(), y, epilogue));
    c.setOutput(0, std::move(y));
    return {};
}

/// Finds triples of stages.
class BandFinder {
public:
    BandFinder(const LoweredGraph& lowered, const std::vector<FusedUnit>& chains, const std::vector<bool>& taken)
        : m_lowered(lowered)
        , m_graph(lowered.graph())
        , m_taken(taken)
        , m_chains(m_graph.nodes().size(), nullptr)
        , m_readers(readerCounts(m_graph))
    {
        for (const FusedUnit& chain : chains)
            for (NodeId id : chain.nodes) {
                m_chains[id.index()] = &chain;
                m_taken[id.index()] = true;
            }
    }

    std::vector<FusedUnit> find()
    {
        std::vector<FusedUnit> units;
        std::vector<bool> used(m_graph.nodes().size(), false);
        for (size_t n = 0; n < m_graph.nodes().size(); ++n) {
            const auto nodes = triple(NodeId(n));
            if (!nodes)
                continue;
            const bool free = std::ranges::none_of(*nodes, [&](const std::vector<NodeId>& stage) {
                return std::ranges::any_of(stage, [&](NodeId id) { return used[id.index()]; });
            });
            if (!free)
                continue;
            if (auto unit = makeUnit(*nodes)) {
                for (NodeId id : unit->nodes)
                    used[id.index()] = true;
                units.push_back(std::move(*unit));
            }
        }
        return units;
    }

private:
    using Triple = std::array<std::vector<NodeId>, 3>;

    /// The nodes of a stage that begins with a convolution of constant float32 weights; empty when it does not.
    std::vector<NodeId> stageAt(NodeId id) const
    {
        const LoweredGraph::Step& step = m_lowered.step(id);
        const Node& node = m_graph.node(id);
        const bool conv = node.opType == "Conv" && node.domain.empty() && !step.folded && step.lowered
            && step.lowered->runInPieces && node.inputs.size() >= 2;
        if (!conv || !isFloats(node.inputs[1], 4) || (node.hasInput(2) && !isFloats(node.inputs[2], 1)))
            return {};
        const FusedUnit* chain = m_chains[id.index()];
        if (chain && chain->nodes.front() == id)
            return chain->nodes;
        return chain || m_taken[id.index()] ? std::vector<NodeId>() : std::vector { id };
    }
    bool isFloats(ValueId id, size_t rank) const
    {
        const Tensor* t = id.valid() ? m_lowered.constant(id) : nullptr;
        return t && t->dtype() == DType::Float32 && t->rank() == rank;
    }
    /// The convolution that alone reads what a stage makes.
    std::vector<NodeId> stageAfter(const std::vector<NodeId>& stage) const
    {
        const ValueId made = m_graph.node(stage.back()).outputs[0];
        if (m_readers[made.index()] != 1 || m_graph.isOutput(made))
            return {};
        for (size_t n = stage.back().index() + 1; n < m_graph.nodes().size(); ++n)
            if (const auto& inputs = m_graph.nodes()[n].inputs; !inputs.empty() && inputs[0] == made)
                return stageAt(NodeId(n));
        return {};
    }
    int64_t weightDim(NodeId conv, size_t i) const { return m_lowered.constant(m_graph.node(conv).inputs[1])->dim(i); }
    std::optional<Triple> triple(NodeId first) const
    {
        Triple t;
        t[0] = stageAt(first);
        if (t[0].empty() || (t[1] = stageAfter(t[0])).empty() || (t[2] = stageAfter(t[1])).empty())
            return {};
        const NodeId second = t[1].front(), third = t[2].front();
        const int64_t groups = m_graph.node(second).attributes.integer("group", 1);
        const bool suits = groups > 1 && weightDim(second, 0) == groups && weightDim(second, 1) == 1
            && weightDim(third, 2) == 1 && weightDim(third, 3) == 1;
        return suits ? std::optional(t) : std::nullopt;
    }

    /// Fills epilogue and addend from the element-wise nodes behind the convolution; false where they are more than
    /// that.
    bool readEpilogue(const std::vector<NodeId>& nodes, Stage& stage, ValueId& addend) const
    {
        ValueId value = m_graph.node(nodes[0]).outputs[0];
        bool bounded = false;
        for (size_t i = 1; i < nodes.size(); ++i) {
            const Node& node = m_graph.node(nodes[i]);
            const ElementOp& op = *m_lowered.step(nodes[i]).lowered->element;
            if (bounded || (i > 1 && op.binary))
                return false;
            if (op.binary) {
                if (op.op != BinaryOp::Add || node.inputs.size() != 2 || node.inputs[0] == node.inputs[1])
                    return false;
                addend = node.inputs[node.inputs[0] == value ? 1 : 0];
            } else {
                if (node.inputs[0] != value || (op.unary != UnaryOp::Relu && op.unary != UnaryOp::Clip))
                    return false;
                stage.epilogue
                    = { nullptr, op.unary == UnaryOp::Relu ? SumEpilogue::Bound::Relu : SumEpilogue::Bound::Clip,
                          static_cast<float>(op.params.low), static_cast<float>(op.params.high) };
                bounded = true;
            }
            value = node.outputs[0];
        }
        return true;
    }
    bool readStage(const std::vector<NodeId>& nodes, Stage& stage, ValueId& addend) const
    {
        stage.node = m_graph.node(nodes.front());
        stage.name = stage.node.name;
        auto attributes = windowAttributes(stage.node);
        if (!attributes.ok() || !readEpilogue(nodes, stage, addend))
            return false;
        stage.attributes = std::move(attributes.value());
        stage.weights = constantFloats(*m_lowered.constant(stage.node.inputs[1]));
        if (stage.node.hasInput(2))
            stage.bias = constantFloats(*m_lowered.constant(stage.node.inputs[2]));
        const FusedUnit* chain = m_chains[nodes.front().index()];
        stage.lowered = chain ? chain->lowered : *m_lowered.step(nodes.front()).lowered;
        return true;
    }

    std::optional<FusedUnit> makeUnit(const Triple& nodes) const
    {
        auto bands = std::make_shared<Bands>();
        FusedUnit unit;
        unit.node = nodes[0].front();
        const auto inputOf = [&](ValueId id) {
            const auto known = std::ranges::find(unit.inputs, id);
            const auto at = static_cast<size_t>(known - unit.inputs.begin());
            if (known == unit.inputs.end())
                unit.inputs.push_back(id);
            return at;
        };
        for (size_t i = 0; i < 3; ++i) {
            Stage& stage = bands->stages[i];
            ValueId addend;
            if (!readStage(nodes[i], stage, addend) || (addend.valid() && i < 2))
                return {};
            const FusedUnit* chain = m_chains[nodes[i].front().index()];
            const ValueId before = i > 0 ? m_graph.node(nodes[i - 1].back()).outputs[0] : ValueId();
            for (ValueId in : chain ? chain->inputs : m_graph.node(nodes[i].front()).inputs) {
                stage.absent.push_back(!in.valid());
                stage.inputs.push_back(!in.valid() || (i > 0 && in == before) ? std::optional<size_t>() : inputOf(in));
            }
            if (addend.valid())
                stage.addend = inputOf(addend);
            unit.lowered.kernel += (i ? " > " : "") + stage.lowered.kernel;
            for (NodeId id : nodes[i]) {
                unit.nodes.push_back(id);
                unit.inner.push_back(m_graph.node(id).outputs[0]);
            }
        }
        unit.inner.pop_back();
        std::ranges::sort(unit.nodes);
        unit.lowered.layouts = LayoutRule::Any;
        unit.lowered.run = [bands, prepared = std::make_shared<Prepared>()](
                               StepContext& c) { return runBands(*bands, *prepared, c); };
        return unit;
    }

    const LoweredGraph& m_lowered;
    const Graph& m_graph;
    std::vector<bool> m_taken;
    std::vector<const FusedUnit*> m_chains; ///< by node
    std::vector<size_t> m_readers; ///< by value
};

} // namespace

std::vector<FusedUnit> convBands(
    const LoweredGraph& lowered, const std::vector<FusedUnit>& chains, const std::vector<bool>& taken)
{
    return BandFinder(lowered, chains, taken).find();
}

} // namespace qs
