// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

/// The two products of attention for single queries, as decoders have them token by token: a key is read once, and
/// nothing is prepared for a number of keys that grows with each token.
namespace qs {

/// scores[i] = scale * (the sum over `size` elements of query times key i), the keys behind each other.
void scoreKeys(const float* query, const float* keys, int64_t count, int64_t size, float scale, float* scores) noexcept;
/// y[j] = the sum over i of weights[i] * element j of value i, in order of i; values of `size` elements behind each
/// other.
void mixValues(const float* weights, const float* values, int64_t count, int64_t size, float* y) noexcept;

} // namespace qs
