// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/language_json.h"

#include "core/report/json_number.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

Json continuationsJson(const FreeRun& run, const TokenWords* words)
{
    const auto text = [&](const std::vector<int64_t>& ids) { return words ? Json(words->text(ids)) : Json(nullptr); };
    Json list = Json::array();
    for (const ContinuedPrompt& made : run.continued) {
        const auto flip = made.flip();
        list.push_back({ { "prompt", made.prompt }, { "prompt_tokens", made.promptTokens },
            { "position", flip ? Json(*flip) : Json(nullptr) }, { "float_ids", made.floatIds },
            { "quantized_ids", made.quantIds }, { "float_text", text(made.floatIds) },
            { "quantized_text", text(made.quantIds) } });
    }
    return list;
}

/// Null of prompts that were not continued.
void addFreeRun(const std::optional<FreeRun>& run, const TokenWords* words, Json& json)
{
    Json flips = Json::array();
    for (const FirstFlip& flip : run ? run->flips : std::vector<FirstFlip>())
        flips.push_back({ { "prompt", flip.prompt }, { "position", flip.position }, { "float_id", flip.floatId },
            { "quantized_id", flip.quantId }, { "float_margin", jsonNumber(flip.floatMargin) } });
    json["decode"] = run ? "free" : "forced";
    json["prompt_tokens"] = run && run->promptTokens ? Json(*run->promptTokens) : Json(nullptr);
    json["new_tokens"] = run ? Json(run->newTokens) : Json(nullptr);
    json["end_ids"] = run ? Json(run->endTokens) : Json::array();
    json["first_flip"] = std::move(flips);
    json["continuations"] = run ? continuationsJson(*run, words) : Json::array();
}

Json worstJson(const std::optional<GuessPlace>& worst)
{
    if (!worst)
        return nullptr;
    return { { "prompt", worst->prompt }, { "position", worst->position }, { "kl", jsonNumber(worst->divergence) },
        { "flipped", worst->flipped } };
}

} // namespace

Json languageJson(const std::vector<OutputRow>& outputs, const TokenWords* words)
{
    const auto out = std::ranges::find_if(outputs, [](const OutputRow& row) { return row.language.has_value(); });
    if (out == outputs.end())
        return nullptr;
    const LanguageRow& l = *out->language;
    Json json = { { "output", out->name }, { "prompts", l.prompts }, { "positions", l.positions },
        { "positions_without_numbers", l.withoutNumbers }, { "guesses", l.scored == ScoredToken::Own ? "own" : "next" },
        { "loss_float", jsonNumber(l.floatLoss) }, { "loss_quantized", jsonNumber(l.quantLoss) },
        { "perplexity_float", jsonNumber(l.floatPerplexity()) },
        { "perplexity_quantized", jsonNumber(l.quantPerplexity()) }, { "kl_mean", jsonNumber(l.klMean) },
        { "kl_p99", jsonNumber(l.klP99) }, { "kl_max", jsonNumber(l.klMax) },
        { "top1_agreement", jsonNumber(out->top1Agreement) }, { "top5_agreement", jsonNumber(out->top5Agreement) } };
    json["worst"] = worstJson(l.worst);
    addFreeRun(l.freeRun, words, json);
    return json;
}

} // namespace qs
