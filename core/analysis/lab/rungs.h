// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/ladder_request.h"

#include <string>
#include <vector>

namespace qs {

/// One of the three runs, or a saved file.
enum class LadderSide { Framework, Float, Simulated, Integer, Device };

/// Two values to compare.
struct Rung {
    LadderStep step;
    LadderSide from, to;
    ValueId x, y; ///< in the models; invalid on a saved side
    size_t saved = 0; ///< index in the saved file
    std::string name;
    bool output = false;
    const QuantParams* params = nullptr; ///< per-tensor quantizer of the quantized value
};

/// All values that a ladder compares, by step and then in the models' order. `unknown` gets the saved values that
/// neither file has.
std::vector<Rung> rungsOf(const LadderRequest& request, std::vector<std::string>& unknown);

} // namespace qs
