// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/decoding.h"

#include "core/project/language/blame.h"
#include "core/project/language/end_tokens.h"
#include "core/project/language/free_decoding.h"
#include "core/project/language/language_output.h"

#include <charconv>
#include <tuple>

namespace qs::cli {

namespace {

constexpr int64_t kMostTokens = 1'000'000;
constexpr const char* kWorst = "worst";

Status checkCount(const std::optional<int64_t>& count, const char* option)
{
    if (!count || (*count >= 1 && *count <= kMostTokens))
        return {};
    return badUse(std::string(option) + " " + std::to_string(*count) + " is no number of tokens", "give 1 or more");
}

/// PROMPT and POSITION.
std::optional<std::pair<size_t, size_t>> twoNumbers(const std::string& text)
{
    std::pair<size_t, size_t> numbers;
    const char* const end = text.data() + text.size();
    const auto [colon, first] = std::from_chars(text.data(), end, numbers.first);
    if (first != std::errc() || colon == end || *colon != ':')
        return std::nullopt;
    const auto [last, second] = std::from_chars(colon + 1, end, numbers.second);
    return second == std::errc() && last == end ? std::optional(numbers) : std::nullopt;
}

Result<FreeDecoding> freeDecoding(const Snapshot& snapshot, const DecodingOptions& options, const CommonOptions& common)
{
    FreeDecoding request;
    if (options.promptTokens)
        request.promptTokens = size_t(*options.promptTokens);
    request.newTokens = size_t(options.newTokens.value_or(int64_t(request.newTokens)));
    QS_TRY(request.carry, carryPairs(common));
    request.endTokens = endTokens(snapshot, options.tokenizer);
    return request;
}

} // namespace

void addDecodingOptions(CLI::App& app, DecodingOptions& options)
{
    CLI::Option* decode = app.add_option("--decode", options.mode,
        "language models: forced = judge the guesses of the next token, while both models read the given ones (on by "
        "itself; refuses other models); free = also let each model continue the prompts greedily with its own tokens, "
        "caches carried, and tell where they part. Then --carry names caches that names do not pair");
    takesWords(decode, { "forced", "free" });
    app.add_option("--prompt-tokens", options.promptTokens,
        "with --decode free: tokens of each prompt that are read before it is continued (default: all that are no "
        "padding)");
    app.add_option("--new-tokens", options.newTokens,
        "with --decode free: tokens that each model adds at most (default " + std::to_string(FreeDecoding {}.newTokens)
            + "); it stops at the end of text that genai_config.json beside the model, or the tokenizer's "
              "configuration, "
              "names");
    app.add_option("--blame", options.blame,
        "PROMPT:POSITION: which layers and nodes chose another token there: by how much each moves the difference of "
        "the two rivals' scores. Both count from 0; with --decode free from the first new token. worst: where the "
        "models guess different tokens and their guesses are furthest apart (with --decode free: where they part and "
        "the float model was surest)");
}

Status checkDecoding(const DecodingOptions& options, bool sharded)
{
    if (!options.mode.empty() && options.mode != "forced" && !options.isFree())
        return badUse("--decode '" + options.mode + "' is unknown",
            "give forced (both models read the same tokens) or free (each continues with its own)");
    if (!options.isFree() && (options.promptTokens || options.newTokens))
        return badUse("--prompt-tokens and --new-tokens are for prompts that are continued", "add --decode free");
    if (options.isFree() && sharded)
        return badUse("a shard's state file does not keep how prompts are continued",
            "leave out --shard, or use --decode forced");
    if (!options.blame.empty() && options.blame != kWorst && !twoNumbers(options.blame))
        return badUse("--blame '" + options.blame + "' is not PROMPT:POSITION",
            "give two whole numbers from 0, such as 3:17, or worst");
    if (!options.blame.empty() && sharded)
        return badUse("--blame is for one run over all samples", "leave out --shard");
    QS_CHECK(checkCount(options.promptTokens, "--prompt-tokens"));
    return checkCount(options.newTokens, "--new-tokens");
}

Result<CarryNames> carriedBySamples(const DecodingOptions& options, const CommonOptions& common)
{
    return options.isFree() ? CarryNames() : carryPairs(common);
}

Result<SnapshotPtr> decoded(const SnapshotPtr& snapshot, const DecodingOptions& options, const Context& context)
{
    if (options.isFree()) {
        QS_TRY(const FreeDecoding request, freeDecoding(*snapshot, options, context.common));
        auto next = withFreeRun(snapshot, request, progressBar(context.common), context.cancel);
        clearProgress(context.common);
        return next;
    }
    if (!options.mode.empty() || !options.blame.empty())
        QS_CHECK(languageOutput(*snapshot));
    return snapshot;
}

Result<std::optional<TokenBlame>> blameOf(
    const Snapshot& snapshot, const DecodingOptions& options, const Context& context)
{
    if (options.blame.empty())
        return std::optional<TokenBlame>();
    BlameRequest request;
    if (options.blame == kWorst) {
        QS_TRY(request, worstGuess(snapshot));
    } else
        std::tie(request.prompt, request.position) = *twoNumbers(options.blame);
    if (options.isFree()) {
        QS_TRY(request.freely, freeDecoding(snapshot, options, context.common));
    }
    QS_TRY(TokenBlame blame, blameOf(snapshot, request, progressBar(context.common), context.cancel));
    clearProgress(context.common);
    return std::optional(std::move(blame));
}

} // namespace qs::cli
