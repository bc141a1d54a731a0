// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare.h"
#include "core/analysis/lockstep/implementation.h"
#include "core/analysis/lockstep/input_sums.h"
#include "core/analysis/lockstep/pair_meter.h"

#include <bitset>
#include <map>
#include <mutex>
#include <vector>

namespace qs {

/// A pair with everything that measuring it needs, looked up once.
struct PairPlan {
    ValuePair pair;
    ValueId x; ///< float model's value
    ValueId y; ///< quantized model's value
    ValueId p; ///< value before the quantizer (QDQ); invalid = none
    NodeId unrounded; ///< node that offers the value before rounding (QLinear*); invalid = none
    NodeId beforeRounding; ///< compare x with this node's value before rounding instead of y
    ValueId codes; ///< integer codes to count; invalid = none
    ValueId dynamicScale, dynamicZero; ///< computed parameters of a dynamic quantizer
    QuantParams params; ///< empty scales when dynamic or without
    bool ownQuantizer = false; ///< y is made by a quantizer whose input is p
    PairActivation activation;
    std::string activationName; ///< "Relu", "Clip", ""
};

/// All pairs of a comparison.
std::vector<PairPlan> planPairs(const ComparePair& pair);

/// What stays of one pair besides its sums: integers that merge in any order, behind a lock.
struct PairShared {
    std::mutex mutex;
    PairHistograms histograms;
    std::bitset<256> codes;
    Shape shape;
};

/// What the two files compute without quantizers, on one sample.
struct NetworkProof {
    std::optional<NetworkDistance> withFloatWeights; ///< both with the float model's
    /// Both with what the quantized file stores: where the first are apart or cannot be had.
    std::optional<NetworkDistance> withStoredWeights;
};

/// Sums by pair and sample, over one stretch of the samples; sample numbers within count from its first.
struct Measured {
    std::vector<PairPlan> pairs;
    std::vector<PairSums> sums; ///< [pair * samples + sample]
    std::vector<double> scaleSquares; ///< same index; mean s^2 of dynamic quantizers
    std::vector<PairSums> nodeSums; ///< same index when node-alone was asked for, else empty
    std::vector<PairSums> outputSums; ///< [output * samples + sample]
    std::vector<PairSums> writtenSums; ///< same index: the file as written against the integer profile; else empty
    ImplementationSums implementation;
    InputStatistics inputs; ///< of the samples that were read
    std::vector<int64_t> floatClass, quantClass; ///< by output * samples + sample; -1 = none
    std::vector<double> floatMargin, quantMargin; ///< same index; of the float model's class over the next best
    std::vector<uint8_t> top5; ///< the float class is among the quantized five best
    std::vector<uint8_t> done; ///< by sample
    std::vector<std::unique_ptr<PairShared>> shared; ///< by pair
    std::vector<bool> knownPairs, knownOutputs; ///< filled from what earlier runs measured: nothing is left to do
    std::vector<bool> knownFloats; ///< of pairs that are measured: the histogram of x is filled already
    std::optional<NetworkProof> proof; ///< on the first sample of all, where it was asked for
    size_t firstSample = 0; ///< number of the first among all
    size_t samples = 0; ///< of this stretch
    size_t allSamples = 0;
    /// Makes room for the pairs and samples that are set.
    void reserve(size_t outputs, bool nodeAlone, bool written);
};

/// A graph output of both files.
struct OutputPair {
    std::string name, quantizedName;
    ValueId x, y;
    std::optional<uint32_t> quantizer; ///< when y holds codes
};
std::vector<OutputPair> pairOutputs(const ComparePair& pair);

/// Float32 elements of a tensor in the memory order of `layout`; codes are dequantized with `params`. `buffer` keeps
/// the data when they are not the tensor's own.
const float* asFloats(
    const Tensor& t, Layout layout, const QuantParams* params, std::vector<float>& buffer, Tensor& keep);

/// Turns sums into the rows that people see (samples that are done only).
void fillActivations(const ComparePair& pair, const Measured& measured, Comparison& result);
void fillImplementation(const ComparePair& pair, Measured& measured, Comparison& result);
void fillOutputs(
    const ComparePair& pair, const Measured& measured, const std::vector<int64_t>& labels, Comparison& result);
/// Inputs, coverage of ranges, equal samples; after the activations.
void fillSamples(const ComparePair& pair, const Measured& measured, Comparison& result);
/// Rules over what was measured, most telling first.
void fillFindings(const ComparePair& pair, const Measured& measured, Comparison& result);

/// 10 log10(signal / noise) with the rules for zero: exact when there is no noise.
Number powerRatioDb(double signal, double noise);
Similarity similarityOf(const PairSums& sums);

} // namespace qs
