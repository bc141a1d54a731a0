// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

#include <exception>

namespace qs {

/// For who stands at the end of a thread or of the program: what was thrown all the way up there, as an issue. Memory
/// that is not there and what the system refused (one thread more, a look at a file) are no defects of ours.
Issue issueOfThrown(const std::exception& thrown);

} // namespace qs
