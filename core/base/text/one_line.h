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

} // namespace qs
