// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <QString>

#include <optional>

/// Every number with its formula filled in, for tool tips and the inspector.
namespace qs {

struct NoiseShares {
    double clipping = 0, rounding = 0, weights = 0,
           inherited = 0; ///< of the mean squared error; may be negative or above 1
    Number kernel {}; ///< made by integer arithmetic, null without
    bool operator==(const NoiseShares&) const = default;
};
/// Whether integer kernels made noise of their own anywhere: where not, nobody needs to hear of that part.
bool hasKernelNoise(const Comparison* comparison);
/// Empty without an error or without the split.
std::optional<NoiseShares> noiseShares(const ActivationRow& row);
/// A share that is rounded to nothing or to all is that: "0 %", not "−0.1 %", and "100 %", not "100.1 %".
double plainShare(double share);
/// The share of a part that others take back: negative, or more than all.
bool cancels(double share);
QString noiseText(
    const std::optional<NoiseShares>& shares); ///< "clip 93 %, round 1 %, weights 2 %, inherit 4 %"; with "kernel 3 %"
QString noiseFormula(const ActivationRow& row);

QString accumulatedFormula(const ActivationRow& row, const Comparison& comparison);
QString addedFormula(const ActivationRow& row, const Comparison& comparison);
QString idealFormula(const ActivationRow& row);
QString clippedFormula(const ActivationRow& row);
QString sqnrFormula(const Similarity& similarity, const Comparison& comparison); ///< definition, value, equivalents
/// "2 samples, simulated" (", partial" where not all samples were run).
QString provenanceText(const Comparison& comparison);
/// "10 % noise power" for 10 dB.
QString noisePowerText(double sqnrDb);

} // namespace qs
