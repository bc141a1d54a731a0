// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_conv.h"

namespace qs {

/// Bytes behind the last gathered row that are written too.
constexpr int64_t kGatherSlack = 64;

/// The codes that output positions first..first+count-1 read from one image (channels last), as unsigned codes: a row
/// of taps x channels for each position, `stride` apart. `outside` is what positions outside hold, as the image has it.
/// Only for CPUs where hasDotProducts().
void im2colRows(const IntegerConv& conv, Codes image, uint8_t outside, int64_t firstChannel, int64_t first,
    int64_t count, uint8_t* rows, int64_t stride);

} // namespace qs
