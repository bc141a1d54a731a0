// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/project/quantize/quantization.h"

namespace qs {

/// The one path from a float model to a quantized one, for the command line and the window alike: prepares the graph if
/// the recipe says so, calibrates (or reads ranges, or takes what was kept) if its form needs ranges, quantizes.
Result<Quantization> quantizeModel(const QuantizeInputs& inputs, const WorkContext& work);

} // namespace qs
