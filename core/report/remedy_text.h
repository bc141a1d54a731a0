// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <optional>
#include <string>
#include <vector>

/// How a reader carries out what findings offer.
namespace qs::text {

/// What a finding's remedy gains and its options, to go on with behind its sentence: " Measured at the output:
/// +5.4 dB. Options: --per-channel"; empty where there are neither. Options come last: there may be many.
std::string remedyDetails(const Finding& finding, const std::optional<Accuracy>& accuracy);

/// The command that takes these options, with OPTIONS in their place, in parts with one path at most; empty where no
/// finding has any.
std::vector<std::string> remedyCommand(const Snapshot& snapshot);
/// The same on one line.
std::string remedyCommandLine(const Snapshot& snapshot);
/// What stands before that command.
inline constexpr const char* kRemedyCommandHead = "A remedy with options is carried out by:";

} // namespace qs::text
