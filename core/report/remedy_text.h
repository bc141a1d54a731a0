// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// How a reader carries out what findings offer.
namespace qs::text {

/// A word as a shell takes it.
std::string shellWord(const std::string& text);

/// The options of a remedy, where they do what was measured; else empty.
std::string remedyOptionsOf(const Finding& finding, std::span<const Remedy> changes);

/// What a finding's remedy gains and its options, to go on with behind its sentence: " Measured at the output:
/// +5.4 dB. Options: --per-channel"; empty where there are neither. Options come last: there may be many.
std::string remedyDetails(const Finding& finding, const std::optional<Accuracy>& accuracy);

/// The command that makes these changes, of the finding and those that are told of with it, in words and pairs of an
/// option and its value: with options; one that was tried and has none, or that was made in the file, by --save-mended.
/// Empty where neither does it.
std::vector<std::string> remedyCommand(
    const Snapshot& snapshot, const Finding& finding, std::span<const Remedy> changes);
/// That of the finding alone, on one line.
std::string remedyCommandLine(const Snapshot& snapshot, const Finding& finding);
/// The same of the first finding that has one.
std::string remedyCommandLine(const Snapshot& snapshot);
/// What stands before that command.
inline constexpr const char* kRemedyCommandHead = "The first remedy is carried out by:";

} // namespace qs::text
