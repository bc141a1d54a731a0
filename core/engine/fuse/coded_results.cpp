// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/coded_results.h"

#include "core/engine/fuse/element_chain.h"
#include "core/engine/fuse/reader_counts.h"
#include "core/engine/lower/common/element_types.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <array>
#include <optional>

namespace qs {

namespace {

/// What a QuantizeLinear with one constant scale does to float32 elements.
struct Coder {
    DType type = DType::Undefined;
    float scale = 1;
    int32_t zeroPoint = 0;
};

struct CodedUnit {
    LoweredNode head; ///< gives its result in pieces
    LoweredNode quantize; ///< for results that do not come in pieces
    Coder coder;
    Tensor scale, zeroPoint; ///< inputs of `quantize`
};

template <class T> void encode(const Coder& coder, const float* y, std::byte* codes, size_t begin, size_t end)
{
    quantizeFast(y + begin, { &coder.scale, &coder.zeroPoint, 0 }, reinterpret_cast<T*>(codes) + begin, end - begin);
}

void encodePiece(const Coder& coder, const float* y, std::byte* codes, size_t begin, size_t end)
{
    switch (coder.type) {
    case DType::UInt8:
        return encode<uint8_t>(coder, y, codes, begin, end);
    case DType::Int8:
        return encode<int8_t>(coder, y, codes, begin, end);
    case DType::UInt16:
        return encode<uint16_t>(coder, y, codes, begin, end);
    default:
        return encode<int16_t>(coder, y, codes, begin, end);
    }
}

Status runCoded(const CodedUnit& unit, StepContext& c)
{
    std::vector<const Tensor*> inputs;
    std::vector<bool> replaceable;
    for (size_t i = 0; i < c.inputCount(); ++i) {
        inputs.push_back(c.input(i));
        replaceable.push_back(c.mayReplace(i));
    }
    Tensor made, codes;
    StepContext own(inputs, std::span(&made, 1), c.pool(), {}, c.cancelToken());
    own.useTeam(c.team());
    own.tellLastUses(std::move(replaceable));
    const EpilogueFn epilogue = [&](const Tensor& y) -> Epilogue {
        codes = c.allocate(unit.coder.type, y.shape(), y.layout());
        std::byte* const out = writable(codes);
        return { [&unit, out](const float* piece, size_t begin, size_t end, size_t) {
                    encodePiece(unit.coder, piece, out, begin, end);
                },
            {}, {}, {} };
    };
    QS_CHECK(unit.head.runInPieces(own, epilogue));
    if (!codes.valid()) {
        const std::array<const Tensor*, 3> operands { &made, &unit.scale, &unit.zeroPoint };
        StepContext whole(operands, std::span(&codes, 1), c.pool(), {}, c.cancelToken());
        QS_CHECK(unit.quantize.run(whole));
    }
    c.setOutput(0, std::move(codes));
    return {};
}

class CodedFinder {
public:
    CodedFinder(const LoweredGraph& lowered, const std::vector<FusedUnit>& units, const std::vector<bool>& taken)
        : m_lowered(lowered)
        , m_graph(lowered.graph())
        , m_taken(taken)
        , m_readers(readerCounts(m_graph))
        , m_units(m_graph.nodes().size(), nullptr)
    {
        for (const FusedUnit& unit : units) {
            for (const NodeId id : unit.nodes)
                m_taken[id.index()] = true;
            m_units[unit.nodes.back().index()] = &unit; // of several that end here, the last one counts
        }
    }

    std::vector<FusedUnit> find() const
    {
        std::vector<FusedUnit> found;
        for (size_t n = 0; n < m_graph.nodes().size(); ++n)
            if (auto unit = unitAt(NodeId(n)))
                found.push_back(std::move(*unit));
        return found;
    }

private:
    const Tensor* number(const Node& node, size_t input) const
    {
        const Tensor* t = node.hasInput(input) ? m_lowered.constant(node.inputs[input]) : nullptr;
        return t && t->count() == 1 ? t : nullptr;
    }

    /// Nothing for a QuantizeLinear that needs more than Coder says.
    std::optional<Coder> coderOf(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        const Tensor *scale = number(node, 1), *zero = number(node, 2);
        if (node.opType != "QuantizeLinear" || !scale || !zero || scale->dtype() != DType::Float32
            || node.attributes.integer("block_size", 0) != 0 || node.attributes.integer("precision", 0) != 0)
            return {};
        const DType type = zero->dtype();
        if (!isInteger(type) || (dtypeBits(type) != 8 && dtypeBits(type) != 16))
            return {};
        return Coder { type, scale->data<float>()[0], static_cast<int32_t>(elementAsInt(*zero, 0)) };
    }

    /// What ends with this node and gives its result in pieces.
    std::optional<FusedUnit> headAt(NodeId id) const
    {
        const LoweredGraph::Step& step = m_lowered.step(id);
        if (const FusedUnit* unit = m_units[id.index()])
            return unit->lowered.runInPieces ? std::optional(*unit) : std::nullopt;
        if (m_taken[id.index()] || step.folded || !step.lowered || m_graph.node(id).outputs.size() != 1)
            return {};
        if (step.lowered->element)
            return makeChainUnit(m_lowered, { id });
        if (!step.lowered->runInPieces)
            return {};
        FusedUnit alone;
        alone.node = id;
        alone.nodes = { id };
        alone.inputs = m_graph.node(id).inputs;
        alone.lowered = *step.lowered;
        return alone;
    }

    std::optional<FusedUnit> unitAt(NodeId id) const
    {
        const LoweredGraph::Step& step = m_lowered.step(id);
        const auto coder = m_taken[id.index()] || step.folded || !step.lowered ? std::nullopt : coderOf(id);
        if (!coder || m_graph.node(id).outputs.size() != 1)
            return {};
        const ValueId real = m_graph.node(id).inputs[0];
        const NodeId producer = real.valid() ? m_graph.value(real).producer : NodeId();
        if (!producer.valid() || m_readers[real.index()] != 1 || m_graph.isOutput(real)
            || m_lowered.facts().of(real).dtype != DType::Float32)
            return {};
        auto unit = headAt(producer);
        if (!unit)
            return {};
        const Node& node = m_graph.node(id);
        auto coded = std::make_shared<CodedUnit>(CodedUnit { unit->lowered, *step.lowered, *coder,
            *m_lowered.constant(node.inputs[1]), *m_lowered.constant(node.inputs[2]) });
        unit->when = FusedUnit::When::Unobserved;
        unit->nodes.push_back(id);
        unit->inner.push_back(real);
        unit->lowered.kernel += " + QuantizeLinear";
        unit->lowered.element = nullptr;
        unit->lowered.runInPieces = nullptr;
        unit->lowered.run = [coded](StepContext& c) { return runCoded(*coded, c); };
        return unit;
    }

    const LoweredGraph& m_lowered;
    const Graph& m_graph;
    std::vector<bool> m_taken;
    std::vector<size_t> m_readers; ///< by value
    std::vector<const FusedUnit*> m_units; ///< by last node
};

} // namespace

std::vector<FusedUnit> codedResults(
    const LoweredGraph& lowered, const std::vector<FusedUnit>& units, const std::vector<bool>& taken)
{
    return CodedFinder(lowered, units, taken).find();
}

} // namespace qs
