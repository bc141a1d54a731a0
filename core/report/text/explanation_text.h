// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explanation/explanation.h"

#include <string>

namespace qs {

/// For a terminal: what the element is, its terms (of many the largest ones; `verbose`: up to some thousands), the
/// steps to it, and the difference to the float network by operand.
std::string explanationText(const ElementExplanation& explanation, bool verbose);

} // namespace qs
