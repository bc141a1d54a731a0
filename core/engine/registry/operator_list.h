// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

/// The operators of this build as a Markdown page: what runs by domain, and what is left out and why.
std::string operatorList();

} // namespace qs
