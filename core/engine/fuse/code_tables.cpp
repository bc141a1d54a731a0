// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/code_tables.h"

#include "core/engine/lower/common/codes.h"
#include "core/engine/lower/common/element_types.h"
#include "core/kernels/quantize/qlinear.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace qs {

namespace {

constexpr int64_t kCodes = 256;

using ByteTable = std::array<uint8_t, kCodes>;

Status runLookUp(const ByteTable& table, DType made, StepContext& c)
{
    constexpr size_t kPiece = 65536; // elements
    const Tensor& x = c.in(0);
    Tensor y = c.allocate(made, x.shape(), x.layout());
    const auto* const codes = reinterpret_cast<const uint8_t*>(x.bytes().data());
    auto* const out = reinterpret_cast<uint8_t*>(writable(y));
    const auto count = static_cast<size_t>(x.count());
    c.parallel((count + kPiece - 1) / kPiece, [&](size_t i, size_t) {
        const size_t first = i * kPiece;
        lookUpBytes(table, codes + first, out + first, std::min(kPiece, count - first));
    });
    c.setOutput(0, std::move(y));
    return {};
}

class TableFinder {
public:
    explicit TableFinder(const LoweredGraph& lowered)
        : m_lowered(lowered)
        , m_graph(lowered.graph())
    {
    }

    std::optional<FusedUnit> tableOf(const FusedUnit& unit)
    {
        const Fact& made = m_lowered.facts().of(m_graph.node(unit.nodes.back()).outputs[0]);
        if (!isCode(made.dtype) || !elementWise(unit))
            return {};
        const auto varying = onlyVarying(unit);
        if (!varying)
            return {};
        const NodeId dequantize = m_graph.value(*varying).producer;
        if (!dequantize.valid() || !dequantizesBytes(dequantize))
            return {};
        const auto table = makeTable(unit, *varying, dequantize);
        if (!table)
            return {};
        FusedUnit found = unit;
        found.inputs = { m_graph.node(dequantize).inputs[0] };
        found.lowered.run = [table = *table, type = made.dtype](StepContext& c) { return runLookUp(table, type, c); };
        found.lowered.replaces = false;
        found.lowered.kernel = "table of codes";
        return found;
    }

private:
    bool elementWise(const FusedUnit& unit) const
    {
        return std::all_of(unit.nodes.begin(), unit.nodes.end() - 1,
            [&](NodeId id) { return m_lowered.step(id).lowered && m_lowered.step(id).lowered->element; });
    }

    /// The input that is no single number, when there is one alone and the numbers do not add axes to it.
    std::optional<ValueId> onlyVarying(const FusedUnit& unit) const
    {
        std::optional<ValueId> varying;
        size_t rank = 0;
        for (const ValueId in : unit.inputs) {
            const Tensor* number = in.valid() ? m_lowered.constant(in) : nullptr;
            if (number && number->count() == 1)
                rank = std::max(rank, number->rank());
            else if (!in.valid() || number || varying)
                return {};
            else
                varying = in;
        }
        if (!varying)
            return {};
        const Fact& fact = m_lowered.facts().of(*varying);
        return fact.dims && fact.dims->size() >= rank ? varying : std::nullopt;
    }

    bool dequantizesBytes(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        const LoweredGraph::Step& step = m_lowered.step(id);
        if (node.opType != "DequantizeLinear" || !step.lowered || step.folded || node.outputs.size() != 1
            || node.attributes.integer("block_size", 0) != 0 || !node.hasInput(0))
            return false;
        for (size_t i = 1; i < node.inputs.size(); ++i) {
            const Tensor* t = node.hasInput(i) ? m_lowered.constant(node.inputs[i]) : nullptr;
            if (node.hasInput(i) && (!t || t->count() != 1))
                return false;
        }
        return isCode(m_lowered.facts().of(node.inputs[0]).dtype)
            && m_lowered.facts().of(node.outputs[0]).dtype == DType::Float32;
    }

    std::optional<Tensor> ran(
        const LoweredNode& step, const std::vector<ValueId>& inputs, ValueId of, const Tensor& with)
    {
        std::vector<const Tensor*> tensors;
        for (const ValueId in : inputs)
            tensors.push_back(in == of ? &with : in.valid() ? m_lowered.constant(in) : nullptr);
        Tensor made;
        StepContext c(tensors, std::span(&made, 1), m_pool);
        if (!step.run(c).ok() || made.count() != kCodes)
            return {};
        return made;
    }

    std::optional<ByteTable> makeTable(const FusedUnit& unit, ValueId varying, NodeId dequantize)
    {
        const Node& node = m_graph.node(dequantize);
        Tensor codes = m_pool.allocate(m_lowered.facts().of(node.inputs[0]).dtype, { kCodes });
        for (size_t i = 0; i < kCodes; ++i)
            writable(codes)[i] = static_cast<std::byte>(i);
        const auto reals = ran(*m_lowered.step(dequantize).lowered, node.inputs, node.inputs[0], codes);
        const auto results = reals ? ran(unit.lowered, unit.inputs, varying, *reals) : std::nullopt;
        if (!results || !isCode(results->dtype()))
            return {};
        ByteTable table;
        std::memcpy(table.data(), results->bytes().data(), table.size());
        return table;
    }

    const LoweredGraph& m_lowered;
    const Graph& m_graph;
    BufferPool m_pool;
};

} // namespace

std::vector<FusedUnit> codeTables(const LoweredGraph& lowered, const std::vector<FusedUnit>& units)
{
    TableFinder finder(lowered);
    std::vector<FusedUnit> found;
    for (const FusedUnit& unit : units)
        if (auto table = finder.tableOf(unit))
            found.push_back(std::move(*table));
    return found;
}

} // namespace qs
