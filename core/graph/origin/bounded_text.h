// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/text/one_line.h"

namespace qs {

inline constexpr size_t kMostEntryBytes = size_t(1) << 16; ///< that are read of one entry of metadata
inline constexpr size_t kMostNameCharacters = 300;

/// A name of the file, as it can be shown.
inline std::string boundedName(std::string_view text) { return oneLine(text, kMostNameCharacters); }

} // namespace qs
