// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace qs {

/// Determinants of `count` matrices of n x n, computed in double. T: float and double.
template <class T> void determinants(int64_t count, int64_t n, const T* x, T* y);
/// Inverses of `count` matrices of n x n, computed in double; one that has none becomes infinities and NaN.
template <class T> void inverses(int64_t count, int64_t n, const T* x, T* y);

} // namespace qs
