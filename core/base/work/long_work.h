// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// Functions that may take long (import, layout, quantizing, runs) say so when they are entered, so that tests can see
/// on which thread they are.
void beginLongWork(std::string_view what);

/// Called from any thread; null: nobody listens.
using LongWorkObserver = void (*)(std::string_view what);
void observeLongWork(LongWorkObserver observer);

} // namespace qs
