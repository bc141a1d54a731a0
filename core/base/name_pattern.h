// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Names in options: an exact name (tried first), a glob (`*` also matches `/`, `?` one character), or `re:REGEX`
/// (core/base/text/regex.h) found anywhere in the name. Returns indices into `names`, ascending. An Issue when nothing
/// matches or the regex is malformed.
Result<std::vector<size_t>> matchNames(const std::string& pattern, const std::vector<std::string>& names);

/// Remedy of that issue where nothing matches, on a command line.
inline constexpr std::string_view kNamesRemedy = "`run --all-tensors --out F.npz` and Netron show the names";

/// It may name others than itself.
bool isNamePattern(const std::string& text);

/// Splits at commas; a pattern that starts with `re:` is not split, nor an option that is one of `names` as it stands.
std::vector<std::string> splitPatterns(
    const std::vector<std::string>& options, const std::vector<std::string>& names = {});

} // namespace qs
