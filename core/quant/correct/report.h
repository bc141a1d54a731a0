// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// What a correction did and what it gained.
struct CorrectionReport {
    std::string name; ///< "bias correction"
    std::string changes; ///< "52 biases changed"
    std::optional<double> before, after; ///< SQNR of the output in dB; unset: not measured, there are no data
    std::vector<std::string> notes; ///< what was left as it is, and why
    double ms = 0; ///< without measuring
    bool movesFactors = false; ///< from one constant to another
};

/// "bias correction: output SQNR 18.2 -> 21.5 dB, 52 biases changed"
std::string correctionLine(const CorrectionReport& report);

} // namespace qs
