// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace qs {

/// Columns that the text takes in a terminal: two for wide characters (Chinese, Japanese, Korean), none for marks that
/// stand on another one, one for a byte that is no character.
size_t columnCount(std::string_view text);

} // namespace qs
