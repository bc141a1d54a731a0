// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qs {

/// Text of a file, which may hold anything, as one line of UTF-8 that can be shown: control characters, line ends and
/// marks that turn the direction of writing become spaces, bytes that are no UTF-8 the replacement character. Of more
/// than `mostCharacters` the rest becomes "…".
std::string oneLine(std::string_view text, size_t mostCharacters = SIZE_MAX);

/// False for control characters, line ends and marks that turn the direction of writing: they act instead of being
/// seen.
bool isShown(char32_t point);

/// Text of several lines that names out of files may stand in: what is not shown, but for line ends and tabs, becomes
/// its escape in JSON ("\u001B"), bytes that are no UTF-8 the replacement character. JSON stays the same JSON.
std::string visible(std::string_view text);

} // namespace qs
