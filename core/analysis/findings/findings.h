// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/measured.h"

#include <string>
#include <vector>

namespace qs {

/// One function for one or a few rules of a kind; each appends what it finds. Thresholds and evidence stand with the
/// rule. Those that look at `found` come after the ones they look for.
void findOtherNetwork(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findInputMismatch(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findRangeTooSmall(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findRangeTooLarge(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findBrokenPairs(const Comparison& c, std::vector<Finding>& found); ///< Q and DQ that disagree
void findJoins(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findExtremeConstants(const Comparison& c, std::vector<Finding>& found);
void findCoarseTensors(const Comparison& c, std::vector<Finding>& found);
void findInherited(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findChannelImbalance(const Comparison& c, std::vector<Finding>& found);
void findWeightsDiffer(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findWrongBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findSaturatingAccumulation(const Comparison& c, std::vector<Finding>& found);
void findImplementationDiffers(const Comparison& c, std::vector<Finding>& found);
void findForms(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findSampleSpread(const Comparison& c, std::vector<Finding>& found);
void findUnmatched(const ComparePair& pair, std::vector<Finding>& found);

/// Share of a weight's elements off by more than rounding does, from which on it is another weight.
inline constexpr double kDifferingShare = 0.001;
/// What the proof tells, by what is known of the weights.
std::optional<NetworkVerdict> networkVerdict(const std::optional<NetworkProof>& proof, const Comparison& c);

/// Findings of one rule and cause become one with a list of places, where there are several. Sorted as before.
void foldFindings(std::vector<Finding>& found);

/// A finding about an activation, with its place and rank filled in.
Finding activationFinding(const Comparison& c, size_t row, std::string rule, Severity severity);
Finding weightFinding(const Comparison& c, size_t row, std::string rule, Severity severity);
EvidenceItem evidence(std::string key, double number, std::string unit = {});

/// The row is a graph input, or only moves its elements (Reshape, Transpose ...).
bool isInputLike(const Graph& graph, const ActivationRow& row);
/// Several rows share one quantizer where shapes alone differ: true for the first of them.
bool firstOfQuantizer(const Comparison& c, size_t row);
/// The float model's values reach beyond the representable range by more than half a step.
bool exceedsRange(const ActivationRow& row);
/// The representable range is far wider than the data: dB that are wasted; nothing below kWastedDb.
std::optional<double> wastedDb(const ActivationRow& row);
/// The increase over what the data permit: increaseDb takes the tensor's own scale for granted, so what a range of at
/// least four times the data's width wastes is added.
Number growthDb(const ActivationRow& row);
bool clippingDominates(const ActivationRow& row);
std::string percentText(double fraction); ///< "12.3 %"
/// Noise that the tensor's own quantizer makes, over signal power; 0 where unknown.
double ownNoiseShare(const ActivationRow& row);

} // namespace qs
