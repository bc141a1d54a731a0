// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/language_row.h"
#include "core/analysis/agreement/task_row.h"
#include "core/analysis/rows/other_numbers.h"
#include "core/analysis/rows/similarity.h"
#include "core/base/ids.h"
#include "core/kernels/codes/saturated_pair.h"

#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One pair of graph outputs.
struct OutputRow {
    std::string name, quantizedName;
    ValueId floatValue, quantValue;
    bool handedOn = false; ///< a state for the next run, as attention's keys and values are
    bool choices = false; ///< whole numbers that say which elements were chosen: SQNR says nothing of them
    Similarity similarity;
    Number top1Agreement; ///< share of positions of all samples; null where the elements are no scores of classes
    Number top5Agreement;
    double positions = 0; ///< scored, of all samples
    Number klMean, klMax; ///< KL divergence by position, natural logarithm; null where they are no distribution
    TaskRow task;
    std::optional<LanguageRow> language; ///< where the positions are guesses of tokens
    std::vector<Number> sampleSqnrDb; ///< one a sample
    std::vector<double> sampleNoise; ///< sum of squared errors, one a sample
    std::optional<Similarity> implementation; ///< integer profiles: against the file as written, end to end
    std::optional<OtherNumbers> other; ///< of the second quantized model
};

/// The outputs that are results: those that are neither handed on to the next run nor choices of elements, or what
/// there is where there is no other.
std::vector<const OutputRow*> resultOutputs(const std::vector<OutputRow>& outputs);
/// Of the results the one with the lowest SQNR, an exact one where all are; null without outputs.
const OutputRow* worstOutput(const std::vector<OutputRow>& outputs);

/// Sums of a node that saturate in 16 bits (profile integer-avx2).
struct SaturationRow {
    NodeId quantNode;
    std::string node, opType; ///< of the quantized file
    uint64_t pairs = 0; ///< added up
    std::vector<uint64_t> saturated; ///< of them, by output channel
    SaturatedPair worst {}; ///< that lost most
    uint64_t saturatedPairs() const { return std::accumulate(saturated.begin(), saturated.end(), uint64_t(0)); }
    double share() const { return pairs ? double(saturatedPairs()) / double(pairs) : 0; }
};

struct Accuracy {
    size_t labels = 0;
    double floatAccuracy = 0;
    double quantizedAccuracy = 0;
    size_t lost = 0, gained = 0; ///< samples that the float model alone gets right, and the quantized one alone
};

} // namespace qs
