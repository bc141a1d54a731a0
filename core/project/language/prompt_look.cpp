// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/prompt_look.h"

#include "core/analysis/tasks/score_kind.h"
#include "core/analysis/tasks/token_inputs.h"
#include "core/project/language/language_output.h"
#include "core/project/snapshot/comparing.h"

#include <cmath>

namespace qs {

Result<PromptLook> promptLook(const Snapshot& snapshot, const std::vector<SampleOutput>& outputs, size_t sample)
{
    QS_TRY(const size_t index, languageOutput(snapshot));
    const OutputRow& row = snapshot.comparison->outputs[index];
    const Plan& plan = *comparePairOf(snapshot).floatPlan;
    const auto inputs = tokenInputs(plan, row.floatValue);
    const auto rows = index < outputs.size() ? scoreRows(outputs[index].shape, 1) : std::nullopt;
    if (!inputs || !rows || rows->positions * rows->classes != outputs[index].x.size()
        || outputs[index].y.size() != outputs[index].x.size())
        return badInput("output '" + row.name + "' holds no scores by position", snapshot.inputs.floatPath);
    QS_TRY(const Feed feed, snapshot.data->feed(sample / (snapshot.data->samples() / snapshot.data->feeds())));
    const std::vector<PromptTokens> prompts
        = promptTokens(*inputs, feed.inputs, feed.samples, rows->positions, rows->classes);
    if (sample - feed.firstSample >= prompts.size())
        return badInput("token ids lie beyond the vocabulary", snapshot.inputs.data.spec);
    const PromptTokens& prompt = prompts[sample - feed.firstSample];
    std::vector<TokenScores> scores;
    const float *x = outputs[index].x.data(), *y = outputs[index].y.data();
    scoreSums(x, y, *rows, scoreKindOf(plan, row.floatValue), { nullptr, &prompt, &scores });
    PromptLook look { sample, {}, row.language->scored };
    for (size_t i = 0; i < rows->positions; ++i, x += rows->classes, y += rows->classes) {
        PromptToken token { prompt.ids[i], prompt.counts[i] == 0 };
        token.scores = i < scores.size() ? scores[i] : TokenScores();
        if (look.scored != ScoredToken::Next)
            token.scores.floatLoss = token.scores.quantLoss = NAN; // they are of the next one
        token.floatGuess = argmax(x, rows->classes);
        token.quantGuess = argmax(y, rows->classes);
        token.floatMargin = marginOf(x, rows->classes, token.floatGuess);
        look.tokens.push_back(token);
    }
    return look;
}

} // namespace qs
