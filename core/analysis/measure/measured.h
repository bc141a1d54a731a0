// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/bypass/restored_activations.h"
#include "core/analysis/measure/code_difference.h"
#include "core/analysis/measure/input_sums.h"
#include "core/analysis/measure/pair_meter.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/tasks/boxes.h"
#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/scores.h"

#include <bitset>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace qs {

/// What stays of one pair besides its sums: integers that merge in any order, behind a lock.
struct PairShared {
    std::mutex mutex;
    PairHistograms histograms;
    std::bitset<256> codes;
    Shape shape;
    std::vector<float> cachePeaks; ///< of caches kept as codes: the largest |x| by scale
};

/// The class by an output that holds no scores, or has several positions a sample.
inline constexpr int64_t kNoScores = -1;

/// The larger of each.
void mergePeaks(const std::vector<float>& more, std::vector<float>& peaks);

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
    std::vector<int64_t> floatClass, quantClass; ///< by output * samples + sample; kNoScores, kNoClass
    std::vector<double> floatMargin, quantMargin; ///< same index; of the float model's class over the next best
    std::vector<ScoreSums> scores; ///< same index; no positions: no scores
    std::vector<std::vector<TokenScores>> tokens; ///< same index; of language models, one a position
    std::vector<uint8_t> readsAhead; ///< by output; 1: scores of tokens that follow from tokens behind them, too
    std::vector<MaskSums> masks; ///< same index; no pixels: no masks
    std::vector<BoxSums> boxes; ///< same index; of the output that has the numbers of its boxes
    std::vector<std::unique_ptr<SharedCounts>> parts; ///< by output: positions of sequences, classes of masks
    std::vector<uint8_t> done; ///< by sample
    std::vector<std::unique_ptr<PairShared>> shared; ///< by pair
    std::vector<bool> knownPairs, knownOutputs; ///< filled from what earlier runs measured: nothing is left to do
    std::vector<bool> knownFloats; ///< of pairs that are measured: the histogram of x is filled already
    std::optional<NetworkProof> proof; ///< on a few samples of the first shard, where it was asked for
    std::optional<RestoredOutput> restored; ///< where activations were lost
    size_t firstSample = 0; ///< number of the first among all
    size_t samples = 0; ///< of this stretch
    size_t allSamples = 0;
    /// Makes room for the pairs and samples that are set.
    void reserve(size_t outputs, bool nodeAlone, bool written);
};

} // namespace qs
