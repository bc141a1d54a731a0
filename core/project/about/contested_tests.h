// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// Why the recorded result of one of ONNX's backend tests is not taken as the measure: it contradicts the standard's
/// own text, or is rounding noise. Empty for all other tests. Who runs the tests says the reason instead of a failure.
std::string_view contestedReason(std::string_view testName);

} // namespace qs
