// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/decoder_inputs.h"

#include "core/data/implied_inputs.h"

#include <algorithm>

namespace qs {

namespace {

Issue unknownNext(const Plan& plan, const std::string& input, std::string what, std::string remedy)
{
    Issue issue = badInput(std::move(what), plan.model().path, std::move(remedy));
    issue.tensor = input;
    return issue;
}

/// A number by itself counts steps or switches something: what it is for the next token only the exporter knows.
bool isSwitch(const ValueType& type) { return !isFloat(type.dtype) && type.dims && type.dims->size() < 2; }

} // namespace

Result<std::vector<std::pair<ValueId, size_t>>> cachesOf(const Plan& plan, const CarryNames& carry)
{
    const Graph& graph = plan.graph();
    CarryNames names = carry;
    for (const auto& pair : cachePairs(graph))
        if (!isCarried(carry, pair.second))
            names.push_back(pair);
    std::vector<std::pair<ValueId, size_t>> caches;
    for (const auto& [out, in] : names) {
        const ValueId output = graph.findValue(out), input = graph.findValue(in);
        const auto place = std::ranges::find(graph.inputs(), input);
        if (!output.valid() || !input.valid() || place == graph.inputs().end())
            return badInput("has no output '" + out + "' with an input '" + in + "' to carry it to", plan.model().path,
                "give --carry OUTPUT=INPUT with names of this model");
        caches.emplace_back(output, size_t(place - graph.inputs().begin()));
    }
    return caches;
}

Result<DecoderInputs> decoderInputs(const Plan& plan, ValueId scores, const CarryNames& carry)
{
    const Graph& graph = plan.graph();
    const auto prompt = promptInputs(plan, scores);
    if (!prompt)
        return badInput("reads no token ids [batch, positions] beside '" + graph.value(scores).name + "'",
            plan.model().path, "use --decode forced");
    DecoderInputs found { *prompt, {} };
    QS_TRY(found.caches, cachesOf(plan, carry));
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
        const Value& input = graph.value(graph.inputs()[i]);
        const bool carried
            = std::ranges::find(found.caches, i, &std::pair<ValueId, size_t>::second) != found.caches.end();
        if (carried || i == prompt->ids || i == prompt->mask || i == prompt->places)
            continue;
        if (impliedBy({ input.name, input.type.dtype, input.type.dims }) == Implied::EmptyCache)
            return unknownNext(
                plan, input.name, "is a cache, but no output is named as what it becomes", "give --carry OUTPUT=INPUT");
        if (isSwitch(input.type))
            return unknownNext(plan, input.name,
                "is neither tokens, mask, places nor a cache, so its value for the next token is not known",
                "use --decode forced");
    }
    return found;
}

} // namespace qs
