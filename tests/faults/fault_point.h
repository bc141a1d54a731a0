// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/faults/fault_sheet.h"

namespace qs::test {

/// Counts the call, and says whether it is the one that fails; errno is then set. False before main() and without a
/// sheet.
bool failsNow(Fault fault);

/// Whether an address is in the program itself or in libzip: C libraries that look after what malloc gives them.
bool mindsMemory(const void* caller);

} // namespace qs::test
