// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qs {

/// UTF-8 names of which none is longer than `widest` code points: in longer ones "..." stands for a run of whole parts
/// (between '/', or '.' and ':'), chosen so that names that differ still do, with as much kept as possible. Where no
/// run does that, the middle is cut. 0 = no limit; at least 8 otherwise.
std::vector<std::string> distinctNames(const std::vector<std::string>& names, size_t widest);

} // namespace qs
