// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/mend/mended_file.h"

#include "core/graph/domains.h"
#include "core/project/mend/file_patch.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int kEightBitWeight = 8;

class Mender {
public:
    explicit Mender(const Snapshot& snapshot)
        : m_snapshot(snapshot)
        , m_rows(*snapshot.comparison)
        , m_patch(comparePairOf(snapshot))
    {
    }

    Status make(const Remedy& r)
    {
        switch (r.kind) {
        case RemedyKind::Recalibrate:
            return recalibrate();
        case RemedyKind::SetRange:
            return setRange(r);
        case RemedyKind::PerChannel:
            return r.ofAllWeights() ? allPerChannel() : requantize(r, r.axis, false);
        case RemedyKind::Requantize:
            return requantize(r, {}, false);
        case RemedyKind::EightBitWeight:
            return r.ofAllWeights() ? allEightBits() : eightBits(r);
        case RemedyKind::StoreConstant:
            return storeConstant(r);
        case RemedyKind::OpenClip:
            return openClip(r);
        case RemedyKind::ReduceRange:
            return reduceRanges();
        case RemedyKind::ExcludeNode:
            return excludeNode(r);
        case RemedyKind::KeepExtremeConstants:
        case RemedyKind::FuseGemm: // the sum reads the product itself
            return keepFloat(r);
        default:
            return refused(r);
        }
    }

    Result<GraphDraft> take() { return m_patch.take(); }

private:
    Issue refused(const Remedy& r) const
    {
        Issue issue = badInput("the remedy " + std::string(remedyKindName(r.kind)) + " cannot be made in the file",
            m_snapshot.inputs.quantPath, "change a recipe and quantize the float model");
        issue.node = r.node;
        issue.tensor = r.tensor;
        return issue;
    }

    const ActivationRow* activation(const std::string& name) const
    {
        const auto row = std::ranges::find_if(
            m_rows.activations, [&](const ActivationRow& a) { return a.name == name && a.quantizer; });
        return row == m_rows.activations.end() ? nullptr : &*row;
    }

    /// Weights in bodies have quantizers of their own, which no file is patched by.
    static bool isOwn(const WeightRow& row) { return row.floatValue.valid(); }

    const WeightRow* weight(const Remedy& r) const
    {
        const WeightRow* found = nullptr;
        for (const WeightRow& row : m_rows.weights)
            if (isOwn(row) && row.name == r.tensor && (!found || row.node == r.node))
                found = &row;
        return found;
    }

    /// Of all pairs of the tensor, which readers may have one each.
    Status setRange(const Remedy& r)
    {
        bool any = false;
        for (const ActivationRow& row : m_rows.activations)
            if (row.name == r.tensor && row.quantizer) {
                QS_CHECK(m_patch.setRange(*row.quantizer, r.low, r.high));
                any = true;
            }
        return any ? Status {} : Status(refused(r));
    }

    /// Quantizers that only pass elements on are set with those that they get them from.
    Status recalibrate()
    {
        bool any = false;
        for (const ActivationRow& row : m_rows.activations) {
            if (!row.quantizer || !row.floatRange || row.params.scale.size() != 1)
                continue;
            QS_CHECK(m_patch.setRange(*row.quantizer, row.floatRange->first, row.floatRange->second));
            any = true;
        }
        return any ? Status {} : Status(refused({ RemedyKind::Recalibrate, {}, {}, 0, 0, 0 }));
    }

    Status requantize(const Remedy& r, std::optional<int64_t> axis, bool reduced)
    {
        if (const WeightRow* row = weight(r))
            return m_patch.requantize(row->quantizer, axis, reduced);
        const ActivationRow* row = activation(r.tensor);
        if (row && !axis && m_patch.isSummed(*row->quantizer))
            return m_patch.readAsWritten(*row->quantizer);
        if (!row || !row->floatRange || axis)
            return refused(r);
        return setRange({ RemedyKind::SetRange, {}, r.tensor, row->floatRange->first, row->floatRange->second, 0 });
    }

    Status eightBits(const Remedy& r)
    {
        const WeightRow* row = weight(r);
        return row ? m_patch.widen(row->quantizer, row->channelAxis) : Status(refused(r));
    }

    Status allPerChannel()
    {
        bool any = false;
        for (const WeightRow& row : m_rows.weights)
            if (isOwn(row) && !row.bias && row.params.perTensor() && row.shape.size() > 1) {
                QS_CHECK(m_patch.requantize(row.quantizer, row.channelAxis));
                any = true;
            }
        return any ? Status {} : Status(refused({ RemedyKind::PerChannel, {}, {}, 0, 0, 0 }));
    }

    Status allEightBits()
    {
        bool any = false;
        for (const WeightRow& row : m_rows.weights)
            if (isOwn(row) && !row.bias && row.params.bits() < kEightBitWeight) {
                QS_CHECK(m_patch.widen(row.quantizer, row.channelAxis));
                any = true;
            }
        return any ? Status {} : Status(refused({ RemedyKind::EightBitWeight, {}, {}, 0, 0, 0 }));
    }

    Status storeConstant(const Remedy& r)
    {
        if (m_rows.network)
            for (const WeightRounding& rounding : m_rows.network->step.roundings)
                if (rounding.name == r.tensor)
                    return m_patch.storeFloat(rounding.quantizedName, r.tensor);
        return refused(r);
    }

    Status openClip(const Remedy& r)
    {
        if (const WeightRow* row = weight(r))
            return m_patch.openClip(row->quantizer, int64_t(r.low), int64_t(r.high));
        const ActivationRow* row = activation(r.tensor);
        return row ? m_patch.openClip(*row->quantizer, int64_t(r.low), int64_t(r.high)) : Status(refused(r));
    }

    Status reduceRanges()
    {
        for (const WeightRow& row : m_rows.weights)
            if (isOwn(row) && !row.bias)
                QS_CHECK(m_patch.requantize(row.quantizer, {}, true));
        return {};
    }

    /// What the file computes in several steps where the float model has one operator: their quantizers, too.
    Status excludeSteps(const Remedy& r)
    {
        const ComparePair pair = comparePairOf(m_snapshot);
        const Graph& graph = pair.quantPlan->graph();
        for (const InsideValue& inside : pair.alignment->insideQuant) {
            const NodeId step = graph.value(inside.value).producer;
            if (step.valid() && pair.floatPlan->graph().node(inside.node).name == r.node
                && m_patch.servesQuantized(step))
                QS_CHECK(m_patch.bypassNode(step));
        }
        return {};
    }

    Status excludeNode(const Remedy& r)
    {
        QS_CHECK(excludeSteps(r));
        for (const ActivationRow& row : m_rows.activations)
            if (row.node == r.node && row.quantNode.valid())
                return m_patch.bypassNode(row.quantNode);
        for (const WeightRow& row : m_rows.weights)
            if (row.node == r.node && row.quantNode.valid())
                return m_patch.bypassNode(row.quantNode);
        return refused(r);
    }

    Status keepFloat(const Remedy& r)
    {
        if (const WeightRow* row = weight(r))
            return m_patch.bypass(row->quantizer);
        const ActivationRow* row = activation(r.tensor);
        return row ? m_patch.bypass(*row->quantizer) : Status(refused(r));
    }

    const Snapshot& m_snapshot;
    const Comparison& m_rows;
    FilePatch m_patch;
};

} // namespace

Result<GraphDraft> mendedFile(const Snapshot& snapshot, std::span<const Remedy> remedies)
{
    Mender mender(snapshot);
    for (const Remedy& remedy : remedies)
        QS_CHECK(mender.make(remedy));
    return mender.take();
}

namespace {

/// "the inputs a, b and 3 more"; empty without any.
std::string listOfKind(const std::string& kind, const std::vector<std::string>& names)
{
    constexpr size_t kNamedParts = 2;
    std::string text = names.empty() ? std::string() : "the " + kind + (names.size() > 1 ? "s " : " ");
    for (size_t i = 0; i < std::min(names.size(), kNamedParts); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    return names.size() > kNamedParts ? text + " and " + std::to_string(names.size() - kNamedParts) + " more" : text;
}

template <class Has> std::vector<std::string> namesWithout(const Graph& graph, std::span<const ValueId> ids, Has has)
{
    std::vector<std::string> names;
    for (const ValueId id : ids)
        if (id.valid() && !has(graph.value(id).name))
            names.push_back(graph.value(id).name);
    return names;
}

} // namespace

std::string lackingParts(const Graph& file, const GraphDraft& mended)
{
    std::vector<std::string> operators;
    for (const Node& node : file.nodes())
        if (node.domain == kMicrosoftDomain && std::ranges::find(operators, node.opType) == operators.end()
            && std::ranges::none_of(mended.nodes, [&](const DraftNode& n) { return n.is(node.opType, node.domain); }))
            operators.push_back(node.opType);
    std::string text;
    for (const std::string& part :
        { listOfKind("input",
              namesWithout(file, file.inputs(), [&](const std::string& name) { return mended.isInput(name); })),
            listOfKind("output",
                namesWithout(file, file.outputs(), [&](const std::string& name) { return mended.isOutput(name); })),
            listOfKind("operator", operators) })
        text += (text.empty() || part.empty() ? "" : ", ") + part;
    return text;
}

} // namespace qs
