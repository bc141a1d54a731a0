// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/blamed_text.h"

#include "core/analysis/decode/continuation.h"
#include "core/analysis/pairs/fed_model.h"

namespace qs {

namespace {

Issue outside(const std::string& what, size_t asked, size_t there, const char* counted)
{
    return badInput("there is no " + what + " " + std::to_string(asked) + ": there are " + std::to_string(there)
            + counted + ", counted from 0",
        {}, "give --blame PROMPT:POSITION within them");
}

/// The row of the prompt, and the tokens of it that are read.
struct ReadTokens {
    size_t row;
    int64_t tokens;
};

Result<ReadTokens> readTokens(
    const Feed& feed, const std::vector<Tensor>& inputs, const PromptInputs& at, const BlameRequest& request)
{
    const size_t row = request.prompt - feed.firstSample;
    const int64_t length = promptLengths(at, inputs)[row];
    const bool freely = request.freely.has_value();
    const int64_t wanted
        = !freely ? int64_t(request.position) + 1 : int64_t(request.freely->promptTokens.value_or(size_t(length)));
    if (freely && request.position >= request.freely->newTokens)
        return outside("new token", request.position, request.freely->newTokens, " of them");
    if (length == 0)
        return paddedBefore(request.prompt);
    if (wanted > length || wanted < 1)
        return outside(freely ? "token" : "position", size_t(wanted - 1), size_t(length), " in its prompt");
    return ReadTokens { row, wanted };
}

/// What the float model goes on with, a list by step of one token a prompt.
Result<std::vector<std::vector<int64_t>>> ownTokens(const ComparePair& pair, ValueId x,
    const std::vector<Tensor>& inputs, const ReadTokens& read, const BlameRequest& request, const WorkContext& work)
{
    const size_t row = read.row;
    QS_TRY(const Decoder decoder, Decoder::make(pair.floatPlan, x, request.freely->carry));
    const std::vector<std::shared_ptr<const Schedule>> beside { decoder.schedule };
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, 1, work));
    std::vector<std::vector<int64_t>> steps;
    QS_CHECK(loop.run({ 1 }, [&](size_t, const SampleWorker& worker) -> Status {
        const auto last = [&](const std::vector<int64_t>& chosen) { return request.freely->ends(chosen[row]); };
        QS_TRY(steps, goneOn(Continuation(decoder, inputs, read.tokens), request.position, last, worker, work.cancel));
        return {};
    }));
    if (!steps.empty() && (steps.size() < request.position || request.freely->ends(steps.back()[row])))
        return badInput("there is no new token " + std::to_string(request.position)
                + ": what the float model writes after prompt " + std::to_string(request.prompt) + " ends with token "
                + std::to_string(steps.size() - 1),
            {}, "give --blame PROMPT:POSITION before its end");
    return steps;
}

} // namespace

Result<BlamedText> blamedText(const ComparePair& pair, ValueId x, ValueId y, const DataSource& data,
    const BlameRequest& request, const WorkContext& work)
{
    if (request.prompt >= data.samples())
        return outside("prompt", request.prompt, data.samples(), " prompts");
    const auto f = promptInputs(*pair.floatPlan, x), q = promptInputs(*pair.quantPlan, y);
    if (!f || !q)
        return badInput("reads no token ids beside its scores", pair.quantPlan->model().path, "leave out --blame");
    QS_TRY(const Feed feed, data.feed(request.prompt / (data.samples() / data.feeds())));
    const CarriedState floatState(pair.floatPlan), quantState(pair.quantPlan);
    const std::vector<Tensor> xs = FedModel(floatState, floatState).inputs(feed.inputs);
    const std::vector<Tensor> ys = FedModel(quantState, floatState).inputs(feed.inputs);
    QS_TRY(const ReadTokens read, readTokens(feed, xs, *f, request));
    if (request.whole)
        return BlamedText { xs, ys, read.row, request.position };
    BlamedText text { firstTokens(*f, xs, read.tokens), firstTokens(*q, ys, read.tokens), read.row, {} };
    if (!request.freely)
        return text;
    QS_TRY(const auto steps, ownTokens(pair, x, xs, read, request, work));
    for (const auto& tokens : steps) {
        addTokens(*f, text.floatInputs, tokens, true);
        addTokens(*q, text.quantInputs, tokens, true);
    }
    return text;
}

} // namespace qs
