// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

namespace qs {

/// Mean products of the columns of `rows` (each of `size` values): size x size. A little of the mean square is added to
/// the diagonal, so that few rows do not decide alone.
std::vector<float> gramMatrix(std::span<const float> rows, size_t size);

/// The mean square of the output error that the weight errors of one output cause: error' gram error.
double outputError(std::span<const float> gram, std::span<const float> error);

/// Which weights of one output are to be rounded the other way: `error` is what rounding to nearest leaves,
/// `steps[i]` what flipping weight i adds to it (0: it cannot). Flips what lowers the output error, one by one, until
/// nothing does; never ends with a larger error than it began with.
/// Source: the objective of Nagel et al. 2020, Up or Down? Adaptive Rounding for Post-Training Quantization, solved by
/// coordinate descent over the two roundings.
std::vector<bool> chooseFlips(std::span<const float> gram, std::span<const float> error, std::span<const float> steps);

} // namespace qs
