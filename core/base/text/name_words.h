// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace qs {

/// Runs of letters and digits of a name, in lower case: "past_key_values.0.Key" has "past", "key", "values", "0",
/// "key". The last one may be empty.
std::vector<std::string> nameWords(const std::string& name);

} // namespace qs
