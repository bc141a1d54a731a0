// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/bypass/restored_activations.h"
#include "core/analysis/findings/finding.h"
#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/activation_row.h"
#include "core/analysis/rows/float_node_row.h"
#include "core/analysis/rows/output_row.h"
#include "core/analysis/rows/sample_row.h"
#include "core/analysis/rows/weight_row.h"
#include "core/base/hash.h"
#include "core/base/profile.h"

#include <optional>
#include <vector>

namespace qs {

/// Whether the quantized file with its quantizers taken out is the float model.
struct NetworkVerdict : ProofNotes {
    NetworkDistance distance; ///< where it is known
    bool storedWeights = false; ///< both with the weights of the quantized file, since these are others
    bool givenWeights = false; ///< both with those of the float model, and the quantized file has others
    std::string reason {}; ///< why it is not known; empty where it is
    /// What the quantized file's constants that are no codes and other ones than the float model's (PrecisionStep)
    /// move the output by, relatively: the files are the same without them, and are called so where that is little.
    Number otherConstants {};
    /// The same of constants that are the float model's, rounded to codes and stored as reals; where there are no other
    /// ones beside them.
    Number roundedConstants {};
    bool harmfulConstants = false; ///< they make much of the output's error, or hold nothing any more
    bool lostConstants = false; ///< some are zeros in place of the float model's
    Number errorWithoutThem {}; ///< the output's, over what it is with them, in amplitude, on all data
    bool restoredActivations = false; ///< activations that the quantized file lost are put back, which gains little
    bool lostAlone = false; ///< it is another network by these alone: put back, they make it the float model's
    /// Each with its own constants: what is between them is no more than rounding the weights explains.
    bool rearranged = false;
    /// Names: the worst output, the one that other constants move most, and, where it is another one, that of
    /// errorWithoutThem.
    std::string output {}, movedOutput {}, errorOutput {};
    bool known() const { return reason.empty(); }
    bool same() const { return known() && distance.same(); }
};

/// Everything that one comparison measured.
struct Comparison {
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    size_t samples = 0;
    size_t firstSample = 0; ///< number of the first one, where only a part of the samples was run
    std::vector<ActivationRow> activations; ///< in the float graph's order
    std::vector<WeightRow> weights;
    std::vector<OutputRow> outputs;
    std::vector<SaturationRow> saturation; ///< in node order; nodes whose kernel can saturate
    std::optional<Accuracy> accuracy;
    std::vector<size_t> flipped; ///< samples whose class differs between the models, or what else the task counts
    std::vector<int64_t> floatClass, quantClass; ///< by sample; empty when the first output has one element
    /// By sample, of the first output: the float model's class over the next best, in the float and quantized model.
    std::vector<double> floatMargin, quantMargin;
    std::vector<InputRow> inputs; ///< that the samples feed
    std::vector<std::vector<size_t>> duplicates; ///< samples whose inputs are equal, in groups
    Hash128 fed {}; ///< of the values of all samples, in order: equal for equal samples, wherever they were read
    std::optional<CalibrationCoverage> coverage; ///< nothing without static quantizers of activations
    std::vector<RangeGrowth> rangeGrowth; ///< after 1, 2, 4 ... and all samples
    size_t rangesSettledAfter = 0; ///< samples after which they have 99 % of their width; 0: nothing is quantized
    std::optional<CalibrationSummary> calibration; ///< where the quantized model was made and calibrated here
    std::vector<FloatNodeRow> floatNodes; ///< of the quantized model, in node order; not before all samples are done
    std::shared_ptr<const EqualizedValues> equalized; ///< null: no layers are
    std::optional<NetworkVerdict> network; ///< on a few samples, where it was asked for
    std::optional<RestoredOutput> restored; ///< where activations were lost
    std::vector<Finding> findings; ///< first = what to say to the user
    std::optional<RemedyTrialNote> trials; ///< where remedies were tried
    bool partial = false; ///< cancelled or still running: fewer samples than asked for
};

} // namespace qs
