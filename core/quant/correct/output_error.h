// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/calibrate/calibrate.h"

#include <optional>

namespace qs {

/// Says how far the outputs of quantized models lie from those of a float model, on up to 16 runs of the data.
class OutputError {
public:
    /// Runs the float model, whose outputs it keeps. `run.tensors` are not read.
    static Result<OutputError> make(CalibrationRun run);
    /// Signal to noise in dB of the float32 result (an output that is not handed on to the next run, where there is
    /// one) that has the least; infinite when all are equal, nullopt when there
    /// is no such output.
    Result<std::optional<double>> sqnr(const GraphDraft& quantized) const;

private:
    CalibrationRun m_run;
    std::vector<std::vector<Tensor>> m_wanted; ///< by output and run
};

} // namespace qs
