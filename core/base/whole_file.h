// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>

namespace qs {

/// All bytes of a file. The issue says that `path` cannot be read, with this remedy; folders cannot.
Result<std::string> readWholeFile(const std::string& path, const std::string& remedy);

} // namespace qs
