// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/options.h"

#include "core/analysis/blame/blame.h"
#include "core/project/snapshot/snapshot.h"

namespace qs::cli {

/// How a comparison asks language models, as given.
struct DecodingOptions {
    std::string mode; ///< --decode
    std::optional<int64_t> promptTokens, newTokens;
    std::string blame; ///< PROMPT:POSITION or "worst"
    std::string tokenizer; ///< tokenizer.json, where one is given
    bool isFree() const { return mode == "free"; }
};

void addDecodingOptions(CLI::App& app, DecodingOptions& options);
/// Bad use where they contradict each other. `sharded`: one part of the samples is run.
Status checkDecoding(const DecodingOptions& options, bool sharded);
/// The pairs by which caches are carried from token to token, of --carry where each model continues the prompts, and
/// samples do not go on from one another.
Result<CarryNames> carriedBySamples(const DecodingOptions& options, const CommonOptions& common);
/// The snapshot with what was asked. Bad input where no output guesses the next token.
Result<SnapshotPtr> decoded(const SnapshotPtr& snapshot, const DecodingOptions& options, const Context& context);

/// What --blame asks of a finished comparison; nothing where it does not.
Result<std::optional<TokenBlame>> blameOf(
    const Snapshot& snapshot, const DecodingOptions& options, const Context& context);

} // namespace qs::cli
