// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace qs {

/// The upper triangular U with UT U = H^-1, row by row, of a symmetric positive K x K matrix; false when it is not
/// positive. `h` is used up. The result does not depend on `threads`.
bool inverseRoot(std::vector<double>& h, size_t size, size_t threads);

} // namespace qs
