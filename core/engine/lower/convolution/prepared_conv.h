// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/lowering.h"
#include "core/kernels/convolution/float_conv.h"

namespace qs {

/// Runs all pieces of a convolution (or product) on all threads: y and what `finish` (may be empty) makes of it.
Status runPrepared(const StepContext& c, const PreparedConv& conv, const float* x, Tensor& y, const FinishFn& finish);

} // namespace qs
