// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/base/text/one_line.h"
#include "core/data/tokens/token_words.h"
#include "core/project/language/blame.h"
#include "core/project/language/end_tokens.h"
#include "core/project/language/free_decoding.h"
#include "core/report/json/blame_json.h"
#include "core/report/json/language_json.h"

#include <algorithm>
#include <functional>

/// What a language model is asked beside a comparison.
namespace qs {

namespace {

constexpr int64_t kShownPrompts = 5, kShownUnits = 10, kMostNewTokens = 1'000'000;
constexpr size_t kShownIds = 32, kShownText = 400;

/// Everything that decides the numbers, none of what is only shown of them.
std::string questionOf(const char* tool, const ToolArguments& a)
{
    std::string question = std::string(tool) + '\n' + a.text("tokenizer") + (a.truth("free") ? "\nfree" : "\nforced");
    for (const char* count : { "prompt", "position", "prompt_tokens", "new_tokens" })
        question += '\n' + std::to_string(a.whole(count, -1));
    for (const std::string& pair : a.texts("carry"))
        question += '\n' + pair;
    return question;
}

/// The answer of this question about the present step, made once.
Result<const AgentJson*> kept(
    AgentSession& session, const std::string& question, const std::function<Result<AgentJson>()>& make)
{
    if (!session.upToDate() || !session.measured || session.measured->question != question) {
        QS_TRY(AgentJson answer, make());
        session.measured = AgentSession::Measured { question, std::move(answer) };
    }
    return &session.measured->answer;
}

Result<std::string> tokenizerPath(AgentDesk& desk, const ToolArguments& a)
{
    if (!a.has("tokenizer"))
        return std::string();
    QS_TRY(const std::string path, desk.folders().existing(a.text("tokenizer")));
    desk.alsoReadTokenizer(path);
    return path;
}

Result<std::optional<TokenWords>> wordsOf(const std::string& tokenizer)
{
    if (tokenizer.empty())
        return std::optional<TokenWords>();
    QS_TRY(TokenWords words, TokenWords::read(tokenizer));
    return std::optional(std::move(words));
}

Result<FreeDecoding> decodingOf(const Snapshot& snapshot, const std::string& tokenizer, const ToolArguments& a)
{
    FreeDecoding options;
    if (a.has("prompt_tokens"))
        options.promptTokens = size_t(a.whole("prompt_tokens", 1));
    options.newTokens = size_t(a.whole("new_tokens", int64_t(options.newTokens)));
    for (const std::string& pair : a.texts("carry")) {
        const size_t sign = pair.find('=');
        if (sign == 0 || sign == std::string::npos || sign + 1 == pair.size())
            return badUse("carry '" + oneLine(pair, 120) + "' is not OUTPUT=INPUT", "give names of the models");
        options.carry.emplace_back(pair.substr(0, sign), pair.substr(sign + 1));
    }
    options.endTokens = endTokens(snapshot, tokenizer);
    return options;
}

AgentJson shortContinuation(AgentJson made)
{
    for (const char* key : { "float_text", "quantized_text" })
        if (made[key].is_string())
            made[key] = oneLine(made[key].get<std::string>(), kShownText);
    for (const char* key : { "float_ids", "quantized_ids" })
        shorten(made, key, kShownIds);
    return made;
}

Result<AgentJson> decode(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(const std::string tokenizer, tokenizerPath(desk, a));
    const auto run = [&]() -> Result<AgentJson> {
        QS_TRY(const auto words, wordsOf(tokenizer));
        QS_TRY(const SnapshotPtr snapshot, session->compared(work));
        QS_TRY(const FreeDecoding options, decodingOf(*snapshot, tokenizer, a));
        QS_TRY(const SnapshotPtr decoded, withFreeRun(snapshot, options, work.progress, work.cancel));
        return languageJson(decoded->comparison->outputs, words ? &*words : nullptr);
    };
    QS_TRY(const AgentJson* const all, kept(*session, questionOf("decode", a), run));
    AgentJson json = headerOf(desk, *session);
    json.update(picked(*all, { "output", "prompts", "prompt_tokens", "new_tokens", "end_ids" }));
    const auto as = [](const AgentJson& row, size_t) { return row; };
    json["first_flips"] = windowOf(all->at("first_flip"), "rows", a, kShownPrompts, as);
    json["continuations"] = windowOf(all->at("continuations"), "rows", a, kShownPrompts,
        [](const AgentJson& row, size_t) { return shortContinuation(row); });
    return json;
}

Result<BlameRequest> blameRequest(
    const SnapshotPtr& snapshot, const std::string& tokenizer, const ToolArguments& a, const WorkContext& work)
{
    if (a.has("prompt") != a.has("position"))
        return badUse("prompt and position name a guess together", "give both, or neither for the worst one");
    std::optional<FreeDecoding> freely;
    if (a.truth("free")) {
        QS_TRY(freely, decodingOf(*snapshot, tokenizer, a));
    }
    BlameRequest request { size_t(a.whole("prompt", 0)), size_t(a.whole("position", 0)), {} };
    if (!a.has("prompt")) {
        SnapshotPtr judged = snapshot;
        if (freely) {
            QS_TRY(judged, withFreeRun(snapshot, *freely, work.progress, work.cancel));
        }
        QS_TRY(request, worstGuess(*judged));
    }
    request.freely = std::move(freely);
    return request;
}

Result<AgentJson> blame(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(const std::string tokenizer, tokenizerPath(desk, a));
    const auto run = [&]() -> Result<AgentJson> {
        QS_TRY(const auto words, wordsOf(tokenizer));
        QS_TRY(const SnapshotPtr snapshot, session->compared(work));
        QS_TRY(const BlameRequest request, blameRequest(snapshot, tokenizer, a, work));
        QS_TRY(TokenBlame found, blameOf(*snapshot, request, work.progress, work.cancel));
        std::ranges::stable_sort(found.units, std::greater(), &BlamedUnit::moved);
        AgentJson made = AgentJson::object();
        addBlameJson(found, words ? &*words : nullptr, made);
        return made;
    };
    QS_TRY(const AgentJson* const all, kept(*session, questionOf("blame", a), run));
    AgentJson units = AgentJson::array();
    for (const AgentJson& unit : all->at("blame"))
        if ((!a.has("kind") || unit.at("kind") == a.text("kind"))
            && (!a.has("parent") || unit.at("parent") == a.text("parent")))
            units.push_back(unit);
    AgentJson json = headerOf(desk, *session);
    json["blamed"] = all->at("blamed");
    json["units"] = windowOf(units, "rows", a, kShownUnits, [](const AgentJson& unit, size_t) { return unit; });
    return json;
}

} // namespace

std::vector<AgentTool> languageTools()
{
    using enum ArgumentKind;
    const ToolArgument read { .name = "prompt_tokens",
        .kind = Whole,
        .help = "tokens of each prompt that are read before it is continued (default: all that are no padding)",
        .least = 1,
        .most = kMostNewTokens };
    const ToolArgument added { .name = "new_tokens",
        .kind = Whole,
        .help = "tokens that each model adds at most",
        .least = 1,
        .most = kMostNewTokens,
        .otherwise = int64_t(FreeDecoding {}.newTokens) };
    const ToolArgument tokenizer { .name = "tokenizer", .help = "tokenizer.json, for what tokens are called" };
    const ToolArgument carry {
        .name = "carry", .kind = Texts, .help = "caches whose names do not tell what becomes of them: OUTPUT=INPUT"
    };
    AgentTool decoding { .name = "decode",
        .title = "Let language models go on by themselves",
        .help
        = "Each model continues the prompts greedily with its own tokens, to the end of the text: which prompts part "
          "and where, and what each model writes. 'compare' judges guesses while both read the same tokens. The "
          "answer is kept for more of it.",
        .call = decode };
    decoding.arguments = { sessionArgument(), read, added, tokenizer, carry,
        limitArgument(kShownPrompts, "so many prompts"), offsetArgument() };
    AgentTool blaming { .name = "blame",
        .title = "Which part chose another token",
        .help
        = "By how much each layer, node, weight block and cache of the quantized model moves the difference of the "
          "two rivals' scores at one guess: the one that is named, or the worst one. What moved it most comes first. "
          "The answer is kept for more of it.",
        .call = blame };
    blaming.arguments = { sessionArgument(), { .name = "prompt", .kind = Whole, .help = "which prompt, from 0" },
        { .name = "position",
            .kind = Whole,
            .help = "the guess after this position of the prompt; with free, this new token; from 0" },
        { .name = "free", .kind = Truth, .help = "the text is what the float model goes on with, as decode has it" },
        read, added, tokenizer, carry,
        { .name = "kind", .help = "only such parts", .words = { "layer", "node", "weight_block", "cache" } },
        { .name = "parent", .help = "only parts of this layer or node; \"\" is in none" },
        limitArgument(kShownUnits, "so many parts"), offsetArgument() };
    return { decoding, blaming };
}

} // namespace qs
