// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/free_decoding.h"

#include "core/analysis/decode/prompt_inputs.h"
#include "core/analysis/pairs/cache_pairs.h"
#include "core/base/work/cancel_scope.h"
#include "core/project/language/end_tokens.h"
#include "core/project/language/language_output.h"
#include "core/project/snapshot/inputs.h"

namespace qs {

namespace {

/// The files as they are: bodies that were expanded for the samples fit no other number of tokens.
Result<DecodedPair> decodedPair(const Snapshot& s, const OutputRow& output, uint64_t memory)
{
    DecodedPair pair { s.floatFile->plan, s.quantFile->plan, {}, {} };
    if (s.inputs.profile != ArithmeticProfile::Simulated) {
        PlanOptions options { .profile = s.inputs.profile, .cache = s.caches.lowered, .memoryLimit = memory };
        pair.quantPlan = Plan::make(s.quantFile->model, options);
    }
    pair.floatScores = pair.floatPlan->graph().findValue(output.name);
    pair.quantScores = pair.quantPlan->graph().findValue(output.quantizedName);
    if (pair.floatScores.valid() && pair.quantScores.valid())
        return pair;
    return badInput("has no output '" + output.quantizedName + "' that guesses the next token", s.inputs.quantPath,
        "use --decode forced");
}

/// With the tokens that end a text, where they are not told.
FreeDecoding withEnds(FreeDecoding options, const Snapshot& snapshot)
{
    if (!options.endTokens)
        options.endTokens = endTokens(snapshot);
    return options;
}

/// What names no file is about the data's.
template <class T> Result<T> atData(Result<T> made, const Snapshot& snapshot)
{
    if (made.ok() || !made.issue().file.empty())
        return made;
    Issue issue = made.issue();
    issue.file = snapshot.inputs.data.spec;
    return issue;
}

} // namespace

Result<SnapshotPtr> withFreeRun(
    const SnapshotPtr& snapshot, const FreeDecoding& options, const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    QS_TRY(const size_t place, decoderOutput(*snapshot));
    auto next = std::make_shared<Snapshot>(*snapshot);
    OutputRow& output = next->comparison->outputs[place];
    const WorkContext work = workFor(next->inputs, progress, cancel);
    QS_TRY(const DecodedPair pair, decodedPair(*next, output, work.memoryBytes()));
    QS_TRY(output.language->freeRun, atData(decodeFree(pair, *next->data, withEnds(options, *next), work), *next));
    return SnapshotPtr(std::move(next));
}

Result<ContinuedPrompt> continuedPromptOf(const Snapshot& snapshot, size_t prompt, const FreeDecoding& options,
    const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    QS_TRY(const size_t place, decoderOutput(snapshot));
    const WorkContext work = workFor(snapshot.inputs, progress, cancel);
    QS_TRY(const DecodedPair pair, decodedPair(snapshot, snapshot.comparison->outputs[place], work.memoryBytes()));
    return atData(continuedPrompt(pair, *snapshot.data, prompt, withEnds(options, snapshot), work), snapshot);
}

CacheChoices cacheChoices(const Snapshot& snapshot)
{
    const auto place = languageOutput(snapshot);
    if (!place || !snapshot.floatFile)
        return {};
    const Plan& plan = *snapshot.floatFile->plan;
    const Graph& graph = plan.graph();
    const ValueId scores = graph.findValue(snapshot.comparison->outputs[*place].name);
    const auto prompt = scores.valid() ? promptInputs(plan, scores) : std::nullopt;
    if (!prompt)
        return {};
    CacheChoices choices;
    for (size_t i = 0; i < graph.inputs().size(); ++i)
        if (i != prompt->ids && prompt->mask != i && prompt->places != i)
            choices.inputs.push_back(graph.value(graph.inputs()[i]).name);
    for (const ValueId output : graph.outputs())
        if (output != scores)
            choices.outputs.push_back(graph.value(output).name);
    choices.found = cachePairs(graph);
    return choices;
}

} // namespace qs
