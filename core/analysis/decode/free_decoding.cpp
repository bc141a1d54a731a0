// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/free_decoding.h"

#include "core/analysis/decode/continuation.h"
#include "core/analysis/decode/guesses.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>
#include <string>

namespace qs {

namespace {

double margin(const std::vector<float>& scores, int64_t chosen)
{
    if (scores.size() < 2)
        return 0;
    float next = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < scores.size(); ++i)
        if (int64_t(i) != chosen)
            next = std::max(next, scores[i]);
    return double(scores[size_t(chosen)]) - double(next);
}

class FreeRunner {
public:
    FreeRunner(const Decoder& x, const Decoder& y, const DataSource& data, const FreeDecoding& options,
        const WorkContext& work)
        : m_x(x)
        , m_y(y)
        , m_data(data)
        , m_options(options)
        , m_work(work)
        , m_flips(data.samples())
        , m_continued(data.samples())
    {
    }

    Result<FreeRun> all()
    {
        const std::vector<std::shared_ptr<const Schedule>> beside { m_x.schedule, m_y.schedule };
        QS_TRY(SampleLoop loop, SampleLoop::make(beside, asManyAtOnce(m_data.feeds(), m_work.threadCount()), m_work));
        QS_CHECK(loop.run({ m_data.feeds(), "decode" },
            [&](size_t index, const SampleWorker& worker) { return feed(index, worker); }));
        FreeRun result { m_options.promptTokens, m_options.newTokens, std::move(m_continued), {},
            m_options.endTokens.value_or(std::vector<int64_t>()) };
        for (const auto& flip : m_flips)
            if (flip)
                result.flips.push_back(*flip);
        return result;
    }

private:
    /// How many tokens of the feed's prompts are read.
    Result<int64_t> tokensOf(const Feed& feed, const std::vector<Tensor>& inputs) const
    {
        const Tensor& ids = inputs[m_x.inputs.prompt.ids];
        if (ids.rank() != 2 || ids.dim(0) != int64_t(feed.samples))
            return badInput("token ids of shape " + shapeText(ids.shape()) + " are not one row a prompt", {},
                "give token ids [prompts, positions]");
        const std::vector<int64_t> all = promptLengths(m_x.inputs.prompt, inputs);
        const int64_t wanted = int64_t(m_options.promptTokens.value_or(0));
        for (size_t row = 0; row < all.size(); ++row) {
            const size_t prompt = feed.firstSample + row;
            if (all[row] < std::max<int64_t>(wanted, 1))
                return shortPrompt(prompt, all[row], std::max<int64_t>(wanted, 1),
                    wanted > 1 ? "lower --prompt-tokens, or leave the prompt out" : "leave the prompt out");
            if (!wanted && all[row] != all[0])
                return badInput("prompt " + std::to_string(prompt) + " has " + std::to_string(all[row])
                        + " tokens before its end or padding, another of its batch " + std::to_string(all[0]),
                    {}, "give --prompt-tokens");
        }
        return wanted ? wanted : all[0];
    }

    Status feed(size_t index, const SampleWorker& worker)
    {
        QS_TRY(const Feed feed, m_data.feed(index));
        const CarriedState f(m_x.plan), q(m_y.plan);
        std::vector<Tensor> xs = FedModel(f, f).inputs(feed.inputs), ys = FedModel(q, f).inputs(feed.inputs);
        QS_TRY(const int64_t tokens, tokensOf(feed, xs));
        Continuation x(m_x, std::move(xs), tokens), y(m_y, std::move(ys), tokens);
        for (size_t row = 0; row < feed.samples; ++row)
            m_continued[feed.firstSample + row] = { feed.firstSample + row, tokens, {}, {} };
        for (size_t position = 0; position < m_options.newTokens && !allEnded(feed); ++position) {
            if (m_work.cancel.cancelled())
                return cancelled();
            const auto place = [&](Issue issue) {
                if (issue.kind == IssueKind::Cancelled)
                    return issue;
                issue.what = "new token " + std::to_string(position) + " after the " + std::to_string(tokens)
                    + " of prompt " + std::to_string(feed.firstSample) + ": " + issue.what;
                return issue;
            };
            auto guessX = x.guess(worker, m_work.cancel);
            if (!guessX)
                return place(guessX.issue());
            auto guessY = y.guess(worker, m_work.cancel);
            if (!guessY)
                return place(guessY.issue());
            const std::vector<int64_t> chosenX = bestTokens(*guessX), chosenY = bestTokens(*guessY);
            compare(*guessX, chosenX, chosenY, feed.firstSample, position);
            x.append(chosenX);
            y.append(chosenY);
        }
        return {};
    }

    bool ended(const std::vector<int64_t>& ids) const { return !ids.empty() && m_options.ends(ids.back()); }

    bool allEnded(const Feed& feed) const
    {
        const auto first = m_continued.begin() + ptrdiff_t(feed.firstSample);
        return std::all_of(first, first + ptrdiff_t(feed.samples),
            [&](const ContinuedPrompt& made) { return ended(made.floatIds) && ended(made.quantIds); });
    }

    /// Keeps what both choose, and which prompts part here. A text that has ended gets nothing more.
    void compare(const std::vector<std::vector<float>>& scores, const std::vector<int64_t>& xs,
        const std::vector<int64_t>& ys, size_t first, size_t position)
    {
        for (size_t row = 0; row < xs.size(); ++row) {
            ContinuedPrompt& made = m_continued[first + row];
            const bool endedX = ended(made.floatIds), endedY = ended(made.quantIds);
            if (!endedX)
                made.floatIds.push_back(xs[row]);
            if (!endedY)
                made.quantIds.push_back(ys[row]);
            auto& flip = m_flips[first + row];
            if (xs[row] != ys[row] && !flip && !endedX && !endedY)
                flip = FirstFlip { first + row, position, xs[row], ys[row], margin(scores[row], xs[row]) };
        }
    }

    const Decoder &m_x, &m_y;
    const DataSource& m_data;
    const FreeDecoding& m_options;
    const WorkContext& m_work;
    std::vector<std::optional<FirstFlip>> m_flips; ///< by sample
    std::vector<ContinuedPrompt> m_continued; ///< by sample
};

} // namespace

Result<FreeRun> decodeFree(
    const DecodedPair& pair, const DataSource& data, const FreeDecoding& options, const WorkContext& work)
{
    QS_TRY(const Decoder x, Decoder::make(pair.floatPlan, pair.floatScores, options.carry));
    QS_TRY(const Decoder y, Decoder::make(pair.quantPlan, pair.quantScores, options.carry));
    return FreeRunner(x, y, data, options, work).all();
}

} // namespace qs
