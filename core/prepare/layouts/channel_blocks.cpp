// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/layouts/channel_blocks.h"

#include "core/engine/lowered/channel_block.h"
#include "core/graph/domains.h"
#include "core/prepare/layouts/image_nodes.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kImageAxes = 3; ///< samples, channels, places: at least

/// The first elements along the first axis, and with `second` along the second one.
Tensor firstOf(const Tensor& t, int64_t first, std::optional<int64_t> second = {})
{
    Shape shape = t.shape();
    const int64_t columns = second ? shape[1] : 1, kept = second ? *second : 1;
    const int64_t inner = shape[0] > 0 && columns > 0 ? t.count() / (shape[0] * columns) : 0;
    shape[0] = first;
    if (second)
        shape[1] = kept;
    const std::vector<float> all = toFloats(t);
    std::vector<float> some;
    for (int64_t r = 0; r < first; ++r)
        some.insert(some.end(), all.begin() + r * columns * inner, all.begin() + (r * columns + kept) * inner);
    return Tensor::of<float>(shape, some);
}

/// Whether all elements from this channel of the second axis on are zero.
bool zeroFrom(const Tensor& filter, int64_t channel)
{
    const std::vector<float> all = toFloats(filter);
    const int64_t row = filter.count() / filter.dim(0), taps = row / filter.dim(1);
    for (int64_t i = 0; i < filter.count(); ++i)
        if (i % row >= channel * taps && all[size_t(i)] != 0)
            return false;
    return true;
}

class BlockRemover {
public:
    BlockRemover(GraphDraft& draft, const Plan& plan)
        : m_draft(draft)
        , m_facts(draft, plan)
        , m_block(channelBlockOf(plan.graph()))
    {
    }

    /// False: something does not fit, and the draft is of no use.
    bool run()
    {
        for (const DraftNode& node : m_draft.nodes)
            if (node.is("ReorderOutput", kNchwcDomain) && node.hasInput(0))
                m_asked[node.inputs[0]] = node.attributes.integer("channels", 0);
        return std::ranges::all_of(m_draft.nodes, [&](DraftNode& node) { return rewrite(node); });
    }

private:
    bool rewrite(DraftNode& node)
    {
        if (!node.hasInput(0) || !node.hasOutput(0))
            return true;
        if (node.domain != kNchwcDomain)
            return passOn(node);
        if (node.opType == "ReorderInput" || node.opType == "ReorderOutput")
            return reorder(node);
        if (node.opType == "Conv")
            return convolution(node);
        const auto channels = m_channels.find(node.inputs[0]);
        if (channels == m_channels.end())
            return false;
        if (node.opType != "Upsample") // which ONNX has not in this form, and which takes plain images, too
            node.domain.clear();
        return hold(node, channels->second);
    }

    /// What others than nodes read stays in its blocks.
    bool hold(const DraftNode& node, int64_t channels)
    {
        if (m_draft.isOutput(node.outputs[0]) || m_draft.isCaptured(node.outputs[0]))
            return false;
        m_channels[node.outputs[0]] = channels;
        m_draft.types[node.outputs[0]] = ValueType { DType::Float32, std::nullopt, {} };
        return true;
    }

    /// Nodes of other domains between blocked ones.
    bool passOn(const DraftNode& node)
    {
        std::vector<int64_t> channels;
        for (const std::string& in : node.inputs)
            if (const auto it = m_channels.find(in); it != m_channels.end())
                channels.push_back(it->second);
        if (channels.empty())
            return true;
        if (!takesAnyOrder(node) || m_facts.images(node).size() != channels.size())
            return false;
        if (node.is("Concat")) {
            int64_t sum = 0;
            for (const int64_t c : channels)
                sum += c;
            return node.attributes.integer("axis", 0) == 1
                && std::ranges::all_of(channels, [&](int64_t c) { return c % m_block == 0; }) && hold(node, sum);
        }
        return std::ranges::count(channels, channels[0]) == std::ssize(channels) && hold(node, channels[0]);
    }

    bool reorder(DraftNode& node)
    {
        const bool in = node.opType == "ReorderInput", last = node.attributes.integer("channels_last", 0) != 0;
        const size_t rank = m_facts.rank(node.inputs[0]);
        const int64_t given = in ? m_facts.size(node.inputs[0], last && rank > 0 ? rank - 1 : 1)
                                 : node.attributes.integer("channels", 0);
        const auto held = m_channels.find(node.inputs[0]);
        if (rank < kImageAxes || given <= 0 || (!in && (held == m_channels.end() || held->second != given)))
            return false;
        node.opType = last ? "Transpose" : "Identity";
        node.domain.clear();
        node.attributes = {};
        if (last)
            node.attributes.set("perm", in ? toChannelsSecond(rank) : toChannelsLast(rank));
        node.attributesChanged = true;
        return !in || hold(node, given);
    }

    bool convolution(DraftNode& node)
    {
        const Tensor* stored = node.hasInput(1) ? m_draft.constant(node.inputs[1]) : nullptr;
        const int64_t groups = node.attributes.integer("group", 1);
        auto filter = stored ? plainFilter(*stored, groups, m_block) : std::nullopt;
        const Tensor* bias = node.hasInput(2) ? m_draft.constant(node.inputs[2]) : nullptr;
        if (!filter || filter->count() == 0 || (node.hasInput(2) && (!bias || bias->count() != filter->dim(0))))
            return false;
        const auto held = m_channels.find(node.inputs[0]);
        const int64_t in = held == m_channels.end() || groups > 1 ? filter->dim(1) : held->second;
        const int64_t out = groups > 1 ? filter->dim(0) : outputChannels(node, *filter, bias);
        if (in > filter->dim(1) || !zeroFrom(*filter, in)
            || (groups > 1 && held != m_channels.end() && held->second != groups * filter->dim(1)))
            return false;
        if (node.hasInput(3))
            if (const auto sum = m_channels.find(node.inputs[3]); sum == m_channels.end() || sum->second != out)
                return false;
        const int64_t filled = filter->dim(0);
        setConstant(node.inputs[1], firstOf(*filter, out, in));
        if (bias && out != filled)
            setConstant(node.inputs[2], firstOf(*bias, out));
        const bool plain = !node.hasInput(3) && node.attributes.text("activation", "").empty();
        node.opType = plain ? "Conv" : "FusedConv";
        node.domain = plain ? "" : kMicrosoftDomain;
        if (!plain)
            m_draft.opsets.try_emplace(kMicrosoftDomain, 1);
        return hold(node, out);
    }

    /// Those that fill the last block up have no elements and no bias. Who reads the image may say how many are left.
    int64_t outputChannels(const DraftNode& node, const Tensor& filter, const Tensor* bias) const
    {
        const std::vector<float> elements = toFloats(filter), terms = bias ? toFloats(*bias) : std::vector<float> {};
        const int64_t row = filter.count() / filter.dim(0);
        int64_t count = filter.dim(0);
        const auto isEmpty = [&](int64_t at) {
            const auto first = elements.begin() + at * row;
            return std::all_of(first, first + row, [](float v) { return v == 0; })
                && (terms.empty() || terms[size_t(at)] == 0);
        };
        while (count > filter.dim(0) - m_block + 1 && isEmpty(count - 1))
            --count;
        const auto asked = m_asked.find(node.outputs[0]);
        return asked == m_asked.end() ? count : std::clamp(asked->second, count, filter.dim(0));
    }

    void setConstant(std::string& name, Tensor value)
    {
        std::string plain = name + "_in_order";
        const auto isOther = [&](const std::string& taken) {
            const Tensor* there = m_draft.constant(taken);
            return there && (!m_own.contains(taken) || there->shape() != value.shape());
        };
        while (isOther(plain))
            plain += '_';
        m_own.insert(plain);
        m_draft.setConstant(plain, std::move(value));
        name = plain;
    }

    GraphDraft& m_draft;
    const ImageFacts m_facts;
    const int64_t m_block;
    std::map<std::string, int64_t> m_channels, m_asked; ///< by blocked value
    std::unordered_set<std::string> m_own;
};

} // namespace

bool hasChannelBlocks(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.domain == kNchwcDomain; });
}

void takeApartBlocks(GraphDraft& draft, const Plan& plan)
{
    GraphDraft changed = draft;
    if (BlockRemover(changed, plan).run()) {
        changed.dropUnusedConstants();
        draft = std::move(changed);
    }
}

} // namespace qs
