// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Which output of the comparison guesses next tokens, the first of several; an Issue where none does.
Result<size_t> languageOutput(const Snapshot& snapshot);

} // namespace qs
