// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

/// A sentence that names options of the command line, by what an agent can give in their place: arguments of tools,
/// fields of a recipe. What it cannot give stays.
std::string inAgentWords(const std::string& text);

} // namespace qs
