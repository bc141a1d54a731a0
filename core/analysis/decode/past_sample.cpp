// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/past_sample.h"

#include "core/analysis/bypass/network_run.h"
#include "core/analysis/decode/decoder_inputs.h"
#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace qs {

namespace {

/// What the model reads a text with, by the first output that guesses its next token.
std::optional<DecoderInputs> textInputs(const Plan& plan)
{
    for (const ValueId output : plan.graph().outputs())
        if (auto found = decoderInputs(plan, output, {}); found.ok())
            return std::move(found).value();
    return std::nullopt;
}

/// An operator that remembers, and how many slots before the caches that it makes those are which it reads.
struct Remembering {
    std::string_view type;
    size_t between;
};
constexpr std::array<Remembering, 4> kRemembering { { { "GroupQueryAttention", 2 }, { "SparseAttention", 2 },
    { "MultiHeadAttention", 5 }, { "Attention", 3 } } };

/// Values that stand for the same, whatever their type.
bool renames(const Node& node)
{
    return node.is("Identity") || node.is("Cast") || node.is("QuantizeLinear") || node.is("DequantizeLinear");
}

ValueId origin(const Graph& graph, ValueId value)
{
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (!renames(node) || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

/// A cache, what it is made of, and by which node.
struct MadeOf {
    std::string input, node;
};

/// By the name of the output; only where it is made of one cache.
std::map<std::string, MadeOf> cachesMadeOf(const Graph& graph)
{
    std::map<std::string, MadeOf> made;
    const CarryNames pairs = cachePairs(graph);
    const auto isCache = [&](ValueId value) {
        return std::ranges::find(pairs, graph.value(value).name, &std::pair<std::string, std::string>::second)
            != pairs.end();
    };
    for (const auto& [output, input] : pairs) {
        const ValueId value = origin(graph, graph.findValue(output));
        const NodeId maker = graph.value(value).producer;
        if (!maker.valid())
            continue;
        const Node& node = graph.node(maker);
        const auto known = std::ranges::find(kRemembering, node.opType, &Remembering::type);
        const auto slot = size_t(std::ranges::find(node.outputs, value) - node.outputs.begin());
        std::vector<ValueId> read;
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (const ValueId from = node.inputs[i].valid() ? origin(graph, node.inputs[i]) : ValueId();
                from.valid() && isCache(from) && (known == kRemembering.end() || i == slot + known->between))
                read.push_back(from);
        if (read.size() == 1)
            made[output] = { graph.value(read[0]).name, node.name };
    }
    return made;
}

} // namespace

bool leavesCachesEmpty(const Plan& plan, const std::vector<Tensor>& inputs)
{
    const auto caches = cachesOf(plan, {});
    return caches.ok() && !caches->empty() && std::ranges::all_of(*caches, [&](const auto& cache) {
        return cache.second < inputs.size() && inputs[cache.second].valid() && inputs[cache.second].count() == 0;
    });
}

std::optional<ProofSample> sampleBehindPast(const ComparePair& pair, const std::shared_ptr<const Plan>& remembers,
    const ProofSample& sample, const WorkContext& work)
{
    const auto text = textInputs(*pair.floatPlan);
    if (!text || sample.inputs[text->prompt.ids].rank() != 2 || sample.inputs[text->prompt.ids].count() == 0)
        return std::nullopt;
    const int64_t tokens = std::ranges::min(promptLengths(text->prompt, sample.inputs)), past = tokens / 2;
    if (past < 1)
        return std::nullopt;
    std::vector<ValueId> caches;
    for (const auto& [output, input] : text->caches) {
        caches.push_back(remembers->graph().findValue(pair.floatPlan->graph().value(output).name));
        if (!caches.back().valid())
            return std::nullopt;
    }
    const std::vector<Tensor> whole = firstTokens(text->prompt, sample.inputs, tokens);
    const auto remembered = runNetwork(remembers, pair.floatPlan, caches, firstTokens(text->prompt, whole, past), work);
    if (!remembered.ok())
        return std::nullopt;
    ProofSample behind { lastTokens(text->prompt, whole, past), sample.number, sample.samples };
    for (size_t i = 0; i < caches.size(); ++i)
        behind.inputs[text->caches[i].second] = toPlain((*remembered)[i]);
    return behind;
}

std::optional<UnpaddedSample> sampleWithoutPadding(const ComparePair& pair, const ProofSample& sample)
{
    const Plan& plan = *pair.floatPlan;
    std::optional<PromptInputs> at;
    for (const ValueId output : plan.graph().outputs())
        if (!at)
            at = promptInputs(plan, output);
    if (!at || !at->mask)
        return std::nullopt;
    const Tensor &ids = sample.inputs[at->ids], &mask = sample.inputs[*at->mask];
    if (!ids.valid() || !mask.valid() || ids.rank() != 2 || mask.shape() != ids.shape() || ids.count() == 0)
        return std::nullopt;
    const int64_t width = ids.dim(1);
    const std::vector<int64_t> shown = toInts(mask);
    int64_t begin = width, end = 0;
    for (int64_t i = 0; i < int64_t(shown.size()); ++i)
        if (shown[size_t(i)] != 0) {
            begin = std::min(begin, i % width);
            end = std::max(end, i % width + 1);
        }
    if (begin >= end || end - begin == width)
        return std::nullopt;
    return UnpaddedSample { { tokensBetween(*at, sample.inputs, begin, end), sample.number, sample.samples },
        { width - (end - begin), begin > 0, plan.graph().value(plan.graph().inputs()[*at->mask]).name } };
}

std::string exchangedCaches(const ComparePair& pair)
{
    const auto meant = cachesMadeOf(pair.floatPlan->graph()), stored = cachesMadeOf(pair.quantPlan->graph());
    std::string first;
    size_t others = 0;
    for (const auto& [output, from] : meant) {
        const auto own = stored.find(output);
        if (own == stored.end() || own->second.input == from.input
            || !pair.floatPlan->graph().findValue(own->second.input).valid())
            continue;
        if (first.empty())
            first = fmt::format("the caches are exchanged: {} makes {} of {}, the float model of {}", own->second.node,
                output, own->second.input, from.input);
        else
            ++others;
    }
    return others > 0 ? fmt::format("{}; {} more are so", first, others) : first;
}

} // namespace qs
