// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/quantize/qlinear.h"

namespace qs {

/// The first sums of codes, 64 at a time, as qlinearReference() makes them; returns how many were done. None on CPUs
/// without hasDotProducts(), and where rounded values could leave 32 bits.
template <class T> size_t addCodesWide(const QLinearBinary& p, const T* a, const T* b, T* out, size_t n);

} // namespace qs
