// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/comparison.h"
#include "core/analysis/rows/range_use.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What stands out of what was measured, most telling first, and whether both files are one network.
void fillFindings(const ComparePair& pair, Comparison& result);

/// One function for one or a few rules of a kind; each appends what it finds. Thresholds and evidence stand with the
/// rule. Those that look at `found` come after the ones they look for.
void findLostActivations(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Weights that lie below the numbers that float16 holds well; before what is told of the network.
void findUnderflow(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findOtherNetwork(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Rank of what makes all other numbers doubtful.
inline constexpr double kNetworkRank = 1e7;
inline constexpr std::string_view kStoreThere
    = "Store the float model's value of this constant there, and find out what changed it";
/// With a capital letter.
std::string asSentence(std::string text);
/// Operators of another function whose effect is known, where the files are not told to be different for it.
void findChangedFunctions(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Weights and constants that are others one by one, and together compute the same.
void findRearranged(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// The other weights make up for what is other in this one.
bool areMadeUp(const Comparison& c, const WeightRow& row);
/// Values between the weights may hold other numbers in the quantized file, and rightly so.
inline bool areInOtherOrder(const NetworkVerdict& verdict)
{
    return !verdict.madeUp.empty() || !verdict.otherCaches.empty();
}
/// Constants or functions of the quantized file are others than the float model's: its noise is not its quantizers'.
bool hasOtherNoise(const Comparison& c);
/// Where a quantizer that was found at fault makes at least half of the noise that comes in at this row, a rank behind
/// that finding; else no limit.
double rankBehindCause(const ComparePair& pair, const Comparison& c, size_t row, const std::vector<Finding>& found);
/// A bias, or what an Add adds, that is another one than the float model's: with that the means of the channels behind
/// it would be off by more.
bool correctsMeans(const Comparison& c, const WeightRow& row);
/// Gives operators that make noise grow the rank behind what is found at fault before them by now.
void putBehindCauses(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Constants that hold nothing but zeros and the float model's do not, where nothing is proved that tells of them.
void findLostConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Weights of which hardly any has anything in common with the float model's, and do not compute the same.
void findUnlikeWeights(const Comparison& c, std::vector<Finding>& found);
void findInputMismatch(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findRangeTooSmall(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findRangeTooLarge(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Why a range does not hold what an input is fed with; empty where findAveragedRanges() tells it.
std::string foreignText(const ActivationRow& row, AveragedRanges averaged);
/// Cause of a finding about a range that is averaged over samples.
inline constexpr std::string_view kAveraged = "averaged";
/// What is told of clipped inputs and tensors whose ranges are averaged; after all that is told of ranges.
void findAveragedRanges(const Comparison& c, std::vector<Finding>& found);
/// Scales of caches kept as codes that do not fit the values.
void findCacheScales(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findBrokenPairs(
    const ComparePair& pair, const Comparison& c, std::vector<Finding>& found); ///< Q and DQ that disagree
/// Readers of codes that disagree with the writer, by their constants; after findBrokenPairs().
void findOddReaders(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Constants in floats whose DequantizeLinear disagrees with their QuantizeLinear.
void findOddConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Caches that the next step reads with another scale or zero point than they are written with.
void findMisreadCaches(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Operators that only move elements, by a parameter that codes have changed, or with far more noise behind them; after
/// what is told of the tensors that they read.
void findMovedOtherwise(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
inline constexpr std::string_view kFaultyParameters = "parameters"; ///< cause
/// Nodes of the quantized file that cannot run since their scales and zero points do not fit; before what is told of
/// networks.
void findFaultyParameters(const ComparePair& pair, std::vector<Finding>& found);
void findJoins(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Scales that are zero or not finite; before what is told of the same tensors.
void findBrokenScales(const Comparison& c, std::vector<Finding>& found);
void findExtremeConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findCoarseTensors(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Products whose sums leave less of the signal than of the noise.
void findCancellations(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findInherited(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findOutlierChannels(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findChannelImbalance(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findCoarseWeights(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Weights that are rounded to codes and stored in floats, where nothing says so.
void findRoundedConstants(const Comparison& c, std::vector<Finding>& found);
void findWeightsDiffer(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findSharedBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Cause of a finding about an activation whose scale the biases behind it contradict.
inline constexpr std::string_view kMovedScale = "moved_scale";
/// Biases beside equalized weights that have not their factors; what is told of these layers then says so.
void findBiasesWithoutFactors(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// After findSharedBiases() and what is told of ranges, which biases may tell more of.
void findWrongBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findSaturatingAccumulation(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// What is said of a node whose sums saturate, with what its evidence tells of the loss.
std::string saturatedPairsText(const SaturationRow& row, std::span<const EvidenceItem> evidence);
void findImplementationDiffers(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findForms(const ComparePair& pair, std::vector<Finding>& found);
/// What differs between two files that are the same on these samples.
void findUnreachedByData(const Comparison& c, std::vector<Finding>& found);
void findSampleSpread(const Comparison& c, std::vector<Finding>& found);
void findSymmetricOnSkewed(const Comparison& c, std::vector<Finding>& found);
void findRangeVaries(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Codes that a Clip cuts off, though the scale was made for them; in place of what is told of the range.
void findClippedCodes(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Half of the codes unused everywhere.
void findReducedRanges(const Comparison& c, std::vector<Finding>& found);
void findCalibrationSet(const Comparison& c, std::vector<Finding>& found);
/// Cause: what a file says is computed otherwise on the CPU at hand.
inline constexpr std::string_view kOfThisCpu = "this CPU";
/// `cpuSaturates`: the CPU at hand adds pairs of products in 16 bits.
void findSaturationRisk(const ComparePair& pair, const Comparison& c, bool cpuSaturates, std::vector<Finding>& found);
void findAccuracyDrop(const Comparison& c, std::vector<Finding>& found);
void findSplitProducts(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findLeftInFloat(const Comparison& c, std::vector<Finding>& found);
/// Some value or constant of the file has codes.
bool isAnythingQuantized(const ComparePair& pair);
/// The file has no codes at all.
void findNothingQuantized(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
void findUnmatched(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);

/// What the proof tells, by what is known of the weights.
std::optional<NetworkVerdict> networkVerdict(const std::optional<NetworkProof>& proof, const Comparison& c);

/// Where a lost activation is what makes two networks of the files, it is told before that, which then names it; or in
/// its place, where nothing else does.
void putCauseFirst(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found);
/// Findings of one rule and cause become one with a list of places, where there are several. Sorted as before.
void foldFindings(std::vector<Finding>& found);

/// What a row is called in a sentence: its node, or the tensor where no node makes it.
const std::string& placeName(const ActivationRow& row);
/// A finding about an activation, with its place and rank filled in; told of by placeName().
Finding activationFinding(const Comparison& c, size_t row, Rule rule);
/// The same of a weight, told of by its node.
Finding weightFinding(const Comparison& c, size_t row, Rule rule);
/// Whether the rule has spoken of this activation, or of this weight.
bool isTold(
    const std::vector<Finding>& found, Rule rule, std::optional<size_t> activation, std::optional<size_t> weight);

/// By activation, what of the worst output's noise passes through it, 0..1, estimated.
std::vector<double> noiseShares(const ComparePair& pair, const Comparison& c);
/// What the worst output gains where the weight's own noise falls by so much; nothing where that is not known.
/// `shares`: noiseShares().
Number gainAtOutput(const Comparison& c, const std::vector<double>& shares, const WeightRow& row, double gainDb);
/// What each activation's own quantizer makes of the worst output's noise, 0..1, estimated by how noise is passed on.
std::vector<double> outputShares(const ComparePair& pair, const Comparison& c);
/// The dequantized weight says next to nothing about the float one, dB.
inline constexpr double kUnrelatedDb = 6;
/// The recipe was asked to: what is off then is no fault.
bool isChangedByRecipe(const ComparePair& pair);
/// Activations are float: nothing but weights can be mended.
bool onlyWeightsQuantized(const Comparison& c);
/// The row is a graph input, or only moves its elements (Reshape, Transpose ...).
bool isInputLike(const Graph& graph, const ActivationRow& row);
/// Two values of the float model that a tool may give one scale on purpose: no weight stands between them, or both
/// belong to one part of the network that is used twice, or are inputs and outputs, such as a state and its next one.
bool mayShareScale(const ComparePair& pair, ValueId a, ValueId b);
/// Several rows share one quantizer where shapes alone differ: true for the first of them.
bool firstOfQuantizer(const Comparison& c, size_t row);
std::string percentText(double fraction); ///< "12.3 %"

} // namespace qs
