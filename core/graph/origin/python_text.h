// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The strings of a list as Python writes it: "['', 'block', \"it's\"]". Empty where the text is no such list, or one
/// of more than some hundred.
std::vector<std::string> pythonStrings(std::string_view text);

} // namespace qs
