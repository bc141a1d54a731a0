// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/parting_place.h"

#include "core/analysis/pairs/pair_plan.h"
#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// Which values of the float model have a partner, and which have none.
class Partners {
public:
    explicit Partners(const ComparePair& pair)
        : m_pair(pair)
        , m_graph(pair.floatPlan->graph())
        , m_paired(m_graph.values().size(), false)
        , m_unmatched(m_graph.values().size(), false)
    {
        for (const ValuePair& p : pair.alignment->values)
            m_paired[p.floatValue.index()] = true;
        for (const ValueId id : pair.alignment->unmatchedFloat)
            m_unmatched[id.index()] = true;
    }

    bool isUnmatched(ValueId value) const { return m_unmatched[value.index()]; }

    /// Values without a partner that lead to this one through such values alone.
    std::vector<ValueId> unmatchedBefore(ValueId value) const
    {
        std::vector<ValueId> front { value };
        std::set<ValueId> before;
        while (!front.empty()) {
            const NodeId producer = m_graph.value(front.back()).producer;
            front.pop_back();
            for (const ValueId in : unmatchedInputs(producer))
                if (before.insert(in).second)
                    front.push_back(in);
        }
        return { before.begin(), before.end() };
    }

private:
    /// Reals without a partner that a node reads and that may be wrong. Sizes do not part.
    std::vector<ValueId> unmatchedInputs(NodeId reader) const
    {
        std::vector<ValueId> found;
        for (const ValueId in : reader.valid() ? m_graph.node(reader).inputs : std::vector<ValueId> {})
            if (in.valid() && isUnmatched(in) && isFloat(m_pair.floatPlan->facts().of(in).dtype) && !isKnown(in)
                && !isRight(in, reader))
                found.push_back(in);
        return found;
    }

    /// It is equal to another value, or follows from sizes alone.
    bool isKnown(ValueId value) const
    {
        const auto why = m_pair.alignment->whyFloat.find(value);
        return why != m_pair.alignment->whyFloat.end()
            && (why->second == WhyAlone::Sizes || why->second == WhyAlone::Linked);
    }

    /// Made beside a value that is compared, or read before by a node whose result is: as the files agree so far, it is
    /// not the one that is wrong.
    bool isRight(ValueId value, NodeId reader) const
    {
        const auto agrees = [&](NodeId node) {
            return node.valid() && node.index() < reader.index()
                && std::ranges::any_of(m_graph.node(node).outputs,
                    [&](ValueId out) { return out.valid() && out != value && m_paired[out.index()]; });
        };
        constexpr size_t kMostReaders = 64; // of more, as of a mask, the first tell
        const auto& uses = m_graph.value(value).uses;
        return agrees(m_graph.value(value).producer)
            || std::any_of(uses.begin(), uses.begin() + ptrdiff_t(std::min(uses.size(), kMostReaders)),
                [&](const Use& use) { return agrees(use.node); });
    }

    const ComparePair& m_pair;
    const Graph& m_graph;
    std::vector<bool> m_paired, m_unmatched; ///< by value
};

ValueId earliest(const ComparePair& pair, const std::vector<ValueId>& values)
{
    return *std::ranges::min_element(
        values, {}, [&](ValueId id) { return pair.floatPlan->graph().value(id).producer; });
}

} // namespace

ValueId firstOfUnmatched(const ComparePair& pair, ValueId place)
{
    const Partners partners(pair);
    if (partners.isUnmatched(place))
        return place; // compared by its name: what it is made of agrees
    const std::vector<ValueId> before = partners.unmatchedBefore(place);
    return before.empty() ? place : earliest(pair, before);
}

std::string orBefore(const ComparePair& pair, ValueId place)
{
    const Partners partners(pair);
    if (partners.isUnmatched(place))
        return {}; // compared by its name
    const std::vector<ValueId> before = partners.unmatchedBefore(place);
    if (before.empty())
        return {};
    const Graph& graph = pair.floatPlan->graph();
    const Value& first = graph.value(earliest(pair, before));
    return fmt::format(" or before it: {} that {} there, from {} on, {} no partner",
        before.size() == 1 ? std::string("a value") : fmt::format("{} values", before.size()),
        before.size() == 1 ? "leads" : "lead", first.producer.valid() ? graph.node(first.producer).name : first.name,
        before.size() == 1 ? "has" : "have");
}

std::string behindPartner(const ComparePair& pair, ValueId x)
{
    constexpr size_t kMost = 8; // nodes
    const auto outputs = pairOutputs(pair);
    const auto out = std::ranges::find(outputs, x, &OutputPair::x);
    const auto partner = std::ranges::find(pair.alignment->values, x, &ValuePair::floatValue);
    if (out == outputs.end() || partner == pair.alignment->values.end())
        return {};
    const Graph& graph = pair.quantPlan->graph();
    std::vector<std::string> nodes;
    ValueId value = out->y;
    for (size_t i = 0; value != partner->quantValue; ++i) {
        const NodeId producer = graph.value(value).producer;
        if (!producer.valid() || i == kMost)
            return {};
        const Node& node = graph.node(producer);
        const auto in = std::ranges::find_if(
            node.inputs, [&](ValueId id) { return id.valid() && !pair.quantPlan->constant(id); });
        if (in == node.inputs.end())
            return {};
        if (!isQuantizeLinear(node) && !isDequantizeLinear(node))
            nodes.insert(nodes.begin(), fmt::format("{} '{}'", node.opType, node.name));
        value = *in;
    }
    return nodes.empty() ? std::string()
                         : fmt::format(" All that leads to {} agrees: it is {} in the quantized file, which makes its "
                                       "output of that by {}.",
                             pair.floatPlan->graph().value(x).name, graph.value(value).name, fmt::join(nodes, ", "));
}

std::string unreadText(const ComparePair& pair)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    std::vector<std::string> unread;
    for (const ValueId in : f.inputs())
        if (const ValueId own = q.findValue(f.value(in).name); !f.value(in).uses.empty()
            && (own.valid() ? std::ranges::find(q.inputs(), own) != q.inputs().end() && q.value(own).uses.empty()
                            : q.inputs().size() < f.inputs().size()))
            unread.push_back(f.value(in).name);
    return unread.empty() ? std::string()
                          : fmt::format(" The quantized file does not read the input {}.", fmt::join(unread, ", "));
}

namespace {

/// Nodes with an input for lengths and none for a mask.
const Node* attentionByLengths(const Graph& graph)
{
    constexpr size_t kBias = 10; // GroupQueryAttention: added to scores, as a mask is
    const auto node = std::ranges::find_if(graph.nodes(),
        [](const Node& n) { return n.is("GroupQueryAttention", kMicrosoftDomain) && !n.hasInput(kBias); });
    return node == graph.nodes().end() ? nullptr : &*node;
}

/// Readers of an input that see its numbers, not only its sizes.
bool readsNumbers(const Graph& graph, ValueId input)
{
    return std::ranges::any_of(graph.value(input).uses, [&](const Use& use) {
        return !use.node.valid() || (!graph.node(use.node).is("Shape") && !graph.node(use.node).is("Size"));
    });
}

} // namespace

bool countsLengths(const ComparePair& pair, const ReadPadding& padding)
{
    return padding.left && attentionByLengths((padding.inFloat ? pair.floatPlan : pair.quantPlan)->graph());
}

std::string paddingText(const ComparePair& pair, const ReadPadding& padding)
{
    const Graph& graph = (padding.inFloat ? pair.floatPlan : pair.quantPlan)->graph();
    std::string text = fmt::format(" Without the {} of this sample both files compute the same: the {} reads padding "
                                   "as text.",
        padding.positions == 1 ? std::string("one position of padding")
                               : fmt::format("{} positions of padding", padding.positions),
        padding.inFloat ? "float model" : "quantized file");
    const ValueId mask = graph.findValue(padding.mask);
    if (mask.valid() && !graph.value(mask).uses.empty() && !readsNumbers(graph, mask))
        return text + fmt::format(" Of {} it reads the size alone.", padding.mask);
    if (const Node* node = attentionByLengths(graph); node && padding.left)
        text += fmt::format(" {} '{}' takes lengths in place of a mask, and counts them from the first position on: it "
                            "takes padding before a text for its beginning, and the text's end for padding.",
            node->opType, node->name);
    return text;
}

} // namespace qs
