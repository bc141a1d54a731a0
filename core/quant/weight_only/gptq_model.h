// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/calibrate.h"
#include "core/quant/weight_only/weight_only.h"

namespace qs {

/// Runs the float model over the data of `run` (its plan and tensors are filled in here) and finds the blocks of every
/// weight that the recipe turns into some, as GPTQ does. The sums of all inputs are gathered in one run where they fit
/// the memory limit (24 bytes times the square of the rows of each input's matrix), in several otherwise. The result
/// depends neither on that nor on the number of threads. Issues: those of blockProducts(), no samples, an input that is
/// no number, one matrix that does not fit the memory limit.
Result<ReadyBlocks> gptqModel(const GraphDraft& draft, const Recipe& recipe, CalibrationRun run);

} // namespace qs
