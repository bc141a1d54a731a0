// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/continued_prompt.h"

#include "core/analysis/decode/continuation.h"
#include "core/analysis/pairs/fed_model.h"

#include <algorithm>
#include <string>

namespace qs {

namespace {

Result<int64_t> tokensToRead(
    const PromptInputs& at, const std::vector<Tensor>& inputs, size_t row, size_t prompt, const FreeDecoding& options)
{
    const int64_t there = promptLengths(at, inputs)[row];
    const int64_t wanted = options.promptTokens ? int64_t(*options.promptTokens) : there;
    if (wanted >= 1 && wanted <= there)
        return wanted;
    return shortPrompt(prompt, there, std::max<int64_t>(wanted, 1), "read fewer of them, or leave the prompt out");
}

} // namespace

Result<ContinuedPrompt> continuedPrompt(const DecodedPair& pair, const DataSource& data, size_t prompt,
    const FreeDecoding& options, const WorkContext& work)
{
    if (prompt >= data.samples())
        return badInput(
            "there is no prompt " + std::to_string(prompt) + ": there are " + std::to_string(data.samples()));
    QS_TRY(const Decoder x, Decoder::make(pair.floatPlan, pair.floatScores, options.carry));
    QS_TRY(const Decoder y, Decoder::make(pair.quantPlan, pair.quantScores, options.carry));
    QS_TRY(const Feed feed, data.feed(prompt / (data.samples() / data.feeds())));
    const size_t row = prompt - feed.firstSample;
    const CarriedState f(x.plan), q(y.plan);
    const std::vector<Tensor> xs = FedModel(f, f).inputs(feed.inputs), ys = FedModel(q, f).inputs(feed.inputs);
    QS_TRY(const int64_t tokens, tokensToRead(x.inputs.prompt, xs, row, prompt, options));
    ContinuedPrompt made { prompt, tokens, {}, {} };
    const std::vector<std::shared_ptr<const Schedule>> beside { x.schedule, y.schedule };
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, asManyAtOnce(2, work.threadCount()), work));
    QS_CHECK(loop.run({ 2, "decode" }, [&](size_t index, const SampleWorker& worker) -> Status {
        Continuation text = index == 0 ? Continuation(x, xs, tokens) : Continuation(y, ys, tokens);
        QS_TRY(const auto steps,
            goneOn(
                std::move(text), options.newTokens, [&](const auto& chosen) { return options.ends(chosen[row]); },
                worker, work.cancel));
        for (const std::vector<int64_t>& chosen : steps)
            (index == 0 ? made.floatIds : made.quantIds).push_back(chosen[row]);
        return {};
    }));
    return made;
}

} // namespace qs
