// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/base/result.h"

#include <string>

namespace qs {

/// All bytes of a file. The issue says that `path` cannot be read, with this remedy; folders cannot.
Result<std::string> readWholeFile(const std::string& path, const std::string& remedy);

/// The first `bytes` of a file, or all of one that is shorter. Issues as above.
Result<std::string> readBeginning(const std::string& path, size_t bytes, const std::string& remedy);

/// Of all bytes of a file, read piece by piece. Issues as above.
Result<Hash128> hashFile(const std::string& path, const std::string& remedy);

} // namespace qs
