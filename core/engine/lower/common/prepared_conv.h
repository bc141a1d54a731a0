// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/epilogue.h"
#include "core/engine/step/step_context.h"
#include "core/kernels/convolution/prepared_conv.h"

namespace qs {

/// Runs all pieces of a convolution (or product) on all threads: y and what `epilogue` (may be empty) makes of it.
Status runPrepared(
    const StepContext& c, const PreparedConv& conv, const float* x, Tensor& y, const EpilogueFn& epilogue);

} // namespace qs
