// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/blame.h"

#include "core/base/work/cancel_scope.h"
#include "core/project/language/end_tokens.h"
#include "core/project/language/language_output.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>

namespace qs {

Result<TokenBlame> blameOf(
    const Snapshot& snapshot, const BlameRequest& request, const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    QS_TRY(const size_t output, request.freely ? decoderOutput(snapshot) : languageOutput(snapshot));
    const OutputRow& row = snapshot.comparison->outputs[output];
    const WorkContext work = workFor(snapshot.inputs, progress, cancel);
    BlameRequest asked = request;
    asked.whole = row.language->scored == ScoredToken::Own;
    if (asked.freely && !asked.freely->endTokens)
        asked.freely->endTokens = endTokens(snapshot);
    auto blame = blameToken(comparePairOf(snapshot), row.floatValue, row.quantValue, *snapshot.data, asked, work);
    if (blame.ok() || !blame.issue().file.empty())
        return blame;
    Issue issue = blame.issue();
    issue.file = snapshot.inputs.data.spec;
    return issue;
}

Result<BlameRequest> worstGuess(const Snapshot& snapshot)
{
    QS_TRY(const size_t output, languageOutput(snapshot));
    const LanguageRow& language = *snapshot.comparison->outputs[output].language;
    if (!language.freeRun) {
        if (language.worst)
            return BlameRequest { language.worst->prompt, language.worst->position, {} };
        return badInput(
            "no position has finite scores of both models", snapshot.inputs.data.spec, "give --blame PROMPT:POSITION");
    }
    const auto& flips = language.freeRun->flips;
    const auto surest = std::ranges::max_element(flips, {}, &FirstFlip::floatMargin);
    if (surest == flips.end())
        return badInput("no prompt parts within " + std::to_string(language.freeRun->newTokens) + " tokens",
            snapshot.inputs.data.spec, "raise --new-tokens, or leave out --decode free");
    return BlameRequest { surest->prompt, surest->position, {} };
}

} // namespace qs
