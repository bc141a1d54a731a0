// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/inherited_bins.h"
#include "core/analysis/rows/remedy.h"
#include "core/analysis/rows/sample_rows.h"
#include "core/base/profile.h"
#include "core/match/alignment.h"
#include "core/stats/histogram.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/shape.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A number that may not exist (null in JSON); for dB also "exact".
using Number = std::optional<double>;

/// Similarity of a pair of tensors over all samples taken together; sums in float64. Non-finite elements are left out
/// and counted in nonFinite.
struct Similarity {
    Number sqnrDb; ///< 20 log10(|x| / |x - y|), dB, higher is better; null when exact or not defined
    bool exact = false; ///< x == y everywhere
    Number rmse;
    Number maxAbsError;
    Number meanError; ///< mean of y - x
    Number cosine;
    uint64_t elements = 0;
    uint64_t nonFinite = 0;
};

/// Mean squared error by origin: the three add up to rmse^2. See metrics, "Where the noise comes from".
struct NoiseSplit {
    Number rounding, clipping, inherited;
};

/// Shares of codes that differ between the file as written and an integer profile, each unit from the same codes.
struct ImplementationShares {
    double offByOne = 0, beyond = 0;
};

/// One paired activation.
struct ActivationRow {
    ValueId floatValue, quantValue;
    std::string name; ///< in the float file
    std::string quantizedName; ///< of the value compared in the quantized file
    NodeId floatNode; ///< producer; invalid for graph inputs
    NodeId quantNode;
    std::string node; ///< producer's name in the float file, "" for graph inputs
    std::string opType; ///< producer's type, "" for graph inputs
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    std::optional<uint32_t> quantizer; ///< index in the quantized file's QuantView
    QuantParams params; ///< no scales when without a quantizer of its own, or dynamic
    bool dynamic = false;
    Shape shape; ///< of the float value for the first sample
    std::string foldedActivation; ///< "Relu", "Clip": activation that the quantizer replaces; "" = none
    Similarity accumulated; ///< sqnr_db and the other similarity numbers
    Number localSqnrDb, qdqSqnrDb, nodeSqnrDb, increaseDb, idealSqnrDb;
    bool localExact = false, qdqExact = false, nodeExact = false;
    NoiseSplit noise;
    Number clippedFraction; ///< of a(p)
    std::optional<std::pair<double, double>> range; ///< representable range, real values (widest over channels)
    std::optional<std::pair<double, double>> observedRange; ///< of a(p); of y without a quantizer
    std::optional<std::pair<double, double>> floatRange; ///< of x
    Number signalPower; ///< mean x^2
    Number usedCodes; ///< share of the codes in use, per-tensor quantizers of at most 8 bits
    std::optional<ImplementationShares> implementation; ///< integer profiles
    std::vector<Number> sampleSqnrDb; ///< accumulated, one a sample
    Histogram floatHistogram, quantHistogram, errorHistogram, beforeHistogram; ///< x, y, y - x, a(p)
    InheritedBins inherited; ///< a(p) - x by a(p), of some elements; empty without a static per-tensor quantizer
};

/// One paired constant.
struct WeightRow {
    ValueId floatValue;
    uint32_t quantizer = 0;
    std::string name, quantizedName, node, opType;
    NodeId floatNode, quantNode;
    bool bias = false; ///< an int32 bias
    QuantParams params;
    Shape shape;
    int64_t channelAxis = 0; ///< axis of the per-channel numbers below (output channels)
    Similarity similarity;
    Number idealSqnrDb;
    std::vector<Number> channelSqnrDb;
    std::vector<double> channelAbsMax; ///< of the float weight
    Number rangeRatio; ///< largest over median channel absolute maximum
    Number clippedFraction;
    Number perTensorSqnrDb, perChannelSqnrDb; ///< what either granularity would give (symmetric int8)
    Number offByMoreThanHalfStep; ///< share of unclipped elements more than half a step away
    Number usedCodes;
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    Histogram floatHistogram, quantHistogram;
};

/// One pair of graph outputs.
struct OutputRow {
    std::string name, quantizedName;
    ValueId floatValue, quantValue;
    Similarity similarity;
    Number top1Agreement; ///< share of samples; null for outputs with one element a sample
    Number top5Agreement;
    std::vector<Number> sampleSqnrDb; ///< one a sample
    std::vector<double> sampleNoise; ///< sum of squared errors, one a sample
    std::optional<Similarity> implementation; ///< integer profiles: against the file as written, end to end
};

/// Sums of a node that saturate in 16 bits (profile integer-avx2).
struct SaturationRow {
    NodeId quantNode;
    std::string node, opType; ///< of the quantized file
    uint64_t pairs = 0; ///< added up
    std::vector<uint64_t> saturated; ///< of them, by output channel
};

struct Accuracy {
    size_t labels = 0;
    double floatAccuracy = 0;
    double quantizedAccuracy = 0;
};

/// From this relative distance on two networks are not the same.
inline constexpr double kSameNetwork = 1e-4;

enum class Severity { Error, Warning, Note };
std::string_view severityName(Severity severity);

/// Evidence is a list of named numbers or texts, in the order to show.
struct EvidenceItem {
    std::string key; ///< snake_case
    std::optional<double> number;
    std::string text; ///< when it is no number
    std::string unit; ///< "dB", "%" ... for people
};

/// Where a finding holds.
struct FindingPlace {
    std::string node, tensor; ///< names of the float file where there is a partner
    std::optional<size_t> activation, weight; ///< row index
    std::vector<EvidenceItem> evidence;
    Remedy change;
    Number expectedGainDb;
    double confidence = 1;
};

/// A rule that fired. See metrics, "Findings".
struct Finding {
    std::string rule; ///< "range_too_small"
    Severity severity = Severity::Note;
    std::string title; ///< for people: "Calibration does not fit the input"
    std::string summary; ///< one or two sentences with the numbers
    std::string node, tensor; ///< names of the float file where there is a partner
    std::optional<size_t> activation; ///< row index
    std::optional<size_t> weight;
    std::vector<EvidenceItem> evidence;
    std::string remedy; ///< an imperative sentence
    Remedy change; ///< the same as a change of the recipe
    Number expectedGainDb; ///< of the SQNR of this tensor, by what was measured of it
    Number measuredGainDb; ///< of the SQNR of the worst output, where the remedy was tried
    double confidence = 1; ///< 0..1; below 1 the rule is not sure
    double rank = 0; ///< noise made here over signal power, for the order among equals
    std::string cause; ///< within the rule: findings of one cause are told of as one
    std::vector<FindingPlace> places; ///< of those, the worst first, which is told of above; empty: only there
};
/// Where a finding holds: its places, or its own.
std::vector<FindingPlace> placesOf(const Finding& finding);
/// All that applying its remedy changes.
std::vector<Remedy> changesOf(const Finding& finding);

/// Relative distance of a value of the bypassed quantized file from the float model's, |x - b| / |x|.
struct ValueDistance {
    ValueId floatValue;
    double distance = 0;
};

/// How far the two files are apart without their quantizers, on one sample.
struct NetworkDistance {
    ValueDistance worstOutput;
    std::optional<ValueDistance> firstApart; ///< in the float model's order, where the outputs differ
};

/// Whether the quantized file with its quantizers taken out is the float model.
struct NetworkVerdict {
    NetworkDistance distance;
    bool storedWeights = false; ///< both with the weights of the quantized file, since these are others
    bool same() const { return distance.worstOutput.distance <= kSameNetwork; }
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
    std::vector<size_t> flipped; ///< samples whose class differs between the models
    std::vector<int64_t> floatClass, quantClass; ///< by sample; empty when the first output has one element
    /// By sample, of the first output: the float model's class over the next best, in the float and quantized model.
    std::vector<double> floatMargin, quantMargin;
    std::vector<InputRow> inputs; ///< that the samples feed
    std::vector<std::vector<size_t>> duplicates; ///< samples whose inputs are equal, in groups
    std::optional<CalibrationCoverage> coverage; ///< nothing without static quantizers of activations
    std::vector<RangeGrowth> rangeGrowth; ///< after 1, 2, 4 ... and all samples
    std::optional<NetworkVerdict> network; ///< on the first sample, where it was asked for and could be had
    std::vector<Finding> findings; ///< first = what to say to the user
    bool partial = false; ///< cancelled or still running: fewer samples than asked for
};

} // namespace qs
