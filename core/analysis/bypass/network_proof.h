// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rounding/precision_step.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/base/work/work_context.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Two networks in float32 whose outputs are further apart than this, relatively, are not the same, unless rounding
/// explains it.
inline constexpr double kSameNetwork = 1e-4;

/// Relative distance of a value of the bypassed quantized file from the float model's, |x - b| / |x|.
struct ValueDistance {
    ValueId floatValue;
    double distance = 0;
};

/// Where rounding alone may move an output by more than this part of it, what else differs is hidden; in coarse types
/// by so many times their own rounding.
inline constexpr double kWidestProof = 0.05, kWidestOfCoarse = 6;
/// Files each with its own weights may be so many times as far apart as rounding these weights makes them, where
/// nothing but this tells that they are one network: what one more weight of another network would add is more.
inline constexpr double kOwnWeightsMargin = 1.5;

/// How far the two files are apart without their quantizers, on the sample that tells most.
struct NetworkDistance {
    /// The one that is furthest beyond its tolerance; of states that are handed on only where no result is beyond.
    ValueDistance worstOutput;
    std::optional<ValueDistance> firstApart {}; ///< in the float model's order, where the outputs differ
    std::optional<ValueDistance> mostFrom {}; ///< behind that, where it is little: the first that is far apart
    std::optional<ValueOverflow> overflow {}; ///< in float16, where nothing is apart before it
    double tolerance = kSameNetwork; ///< of the worst output
    /// What rounding to the files' lowest precision moves this output by; nothing where it was not asked for.
    std::optional<double> explained {};
    bool hidden = false; ///< within a tolerance that is too wide to show anything
    /// The distance is the share of whole numbers that are others, though both files make them from the same reals.
    bool counted = false;
    uint64_t noNumbers = 0; ///< elements of the output that are infinite or NaN, and numbers in the float model
    uint64_t numbersAlone = 0; ///< the other way round
    bool zeroInFloat = false; ///< the output is zero everywhere in the float model: no distance is relative to it
    uint64_t sample = 0; ///< number of the sample among all
    std::vector<uint64_t> silent {}; ///< samples on which rounding hides everything, where another one tells something
    /// That, and no more is between the files than a few runs with rounding made.
    bool hiddenByRounding() const { return hidden && worstOutput.distance <= tolerance / kProofMargin; }
    bool apart() const { return worstOutput.distance > tolerance; }
    bool same() const { return !apart() && !hidden; }
    double beyond() const { return worstOutput.distance / tolerance; }
};

/// An operator of the quantized file that computes another function than the float model's, and what that does.
struct ChangedFunction {
    std::string text; ///< a sentence without a full stop
    std::string node, tensor; ///< of the float model
    /// What an output of the float model moves by, relatively, with this function in its place: the one that is told
    /// of where the files are apart, on its sample, if it moves there; else the one that moves most, on any.
    double effect = 0;
    bool byConstant = false; ///< a constant is another one, no operator or attribute
    std::string output {}; ///< which it is, where the files are apart
};

/// A weight whose codes are not all the nearest ones, though its scales fit the float model's weight, and that moves
/// its node's output less than the nearest codes do: they were chosen by the output, as GPTQ does.
struct RoundedByOutput {
    std::string name; ///< of the float model's constant
    double moved = 0; ///< share of its elements that have another code than the nearest
    double steps = 0; ///< the furthest of these from the nearest
    double error = 0; ///< at the node's output, power over that of the nearest codes
    /// It is so without this: `part` of its scales times a factor, the one furthest from 1, or the codes of `part` of
    /// them beside their places by so many steps, which are the most.
    double factor = 1, part = 1, shift = 0;
    bool right() const { return factor == 1 && shift == 0; }
};

/// What is known of what both files do with a past, where the samples' caches hold nothing.
enum class PastProof : uint8_t {
    NotNeeded, ///< there are no caches, or they hold something
    Same, ///< the same behind a past that was made up, too
    Apart, ///< they part behind it, and only there
    Untested,
};

/// Padding that one of two files reads as text.
struct ReadPadding {
    int64_t positions = 0; ///< without which they are the same
    bool left = false; ///< some of them stand before the text
    std::string mask; ///< the input that tells of them
    bool inFloat = false; ///< it is the float model that reads it
};

/// What sums of 8-bit products that are cut off in 16 bits, as CPUs without VNNI make them, cost an output.
struct CpuSums {
    uint64_t samples = 0;
    ValueId floatValue; ///< the output that loses most
    double exactDb = 0, cutDb = 0; ///< SQNR with exact sums and with those; infinite without an error
    double lossDb() const { return exactDb == cutDb ? 0 : exactDb - cutDb; }
};

/// A bias that is stored as codes of another one, and the channels of what it is added to: mean squares of their means
/// apart, in the quantized file as it is and with the float model's bias.
struct BiasShift {
    uint32_t quantizer = 0;
    ValueId floatValue; ///< the float model's bias
    double apart = 0, left = 0;
};

/// What a proof finds beside its distances, and a verdict tells as it is.
struct ProofNotes {
    PrecisionStep step {}; ///< which rounding is between the files
    std::vector<std::string> otherFunctions {}; ///< a sentence for each operator that computes another function
    bool untested = false; ///< why it is not known is not only that rounding hides what else differs
    std::vector<std::string> unpaired {}; ///< stored weights without a partner, names of the quantized file
    std::vector<ChangedFunction> changed {}; ///< those whose effect was measured, the largest first
    std::vector<RoundedByOutput> byOutput {}; ///< of a few products' samples, see lockstep/rounded_by_output.h
    std::string exchanged {}; ///< which inputs or outputs stand in each other's place, a sentence; empty: none
    PastProof past = PastProof::NotNeeded;
    std::optional<ReadPadding> padding {}; ///< where the files are apart by that alone, on the sample that is told of
    /// Other attributes and rows of tables that move nothing on these samples, where the files are the same; sentences
    /// without a full stop.
    std::vector<std::string> unreached {};
    /// The float model as it is, the other with all that it stores, results alone, and what rounding the weights
    /// explains: where weights are others.
    std::optional<NetworkDistance> withOwnWeights {};
    std::vector<std::string> madeUp {}; ///< of the float model's weights, see confirm/made_up_weights.h
    /// Caches that hold other numbers, where these weights and the rest make up for one another: each file goes on from
    /// its own.
    std::vector<std::string> otherCaches {};
    std::optional<CpuSums> cpuSums {}; ///< see confirm/cpu_sums.h; on CPUs that cut them off
    std::vector<BiasShift> biasShifts {}; ///< see confirm/bias_shifts.h
};

/// What the two files compute without quantizers: the same only where they do so on each sample.
struct NetworkProof : ProofNotes {
    std::optional<NetworkDistance> withFloatWeights; ///< both with the float model's
    /// Both with what the quantized file stores: where the first are apart or cannot be had.
    std::optional<NetworkDistance> withStoredWeights;
    /// The same as the first with all other constants of the float model, too (biases, normalizations): only where the
    /// files have others, and are the same then.
    std::optional<NetworkDistance> withFloatConstants;
    /// The same as the first with the activations that the quantized file lost put back (PairPlan::lost): only where
    /// that makes the files the same.
    std::optional<NetworkDistance> withActivations;
    /// Where withFloatConstants is there: the quantized file's error at an output with these constants of the float
    /// model over that with its own, on all samples, in amplitude, at the output where this is least; above 1 its own
    /// do good. Nothing where it has no error.
    std::optional<double> errorWithout;
    ValueId errorOutput; ///< which output that is, of the float model; with errorWithout alone
    /// The float model as it is, the other with what it stores: only where rounding the weights explains what is
    /// between them, and that is little or the first with all float constants is there. Factors may have moved from one
    /// constant to another, and biases may make up for rounding.
    std::optional<NetworkDistance> rearranged;
    bool same() const
    {
        const auto is = [](const std::optional<NetworkDistance>& d) { return d && d->same(); };
        return is(withFloatWeights) || is(withStoredWeights) || is(withFloatConstants) || is(rearranged);
    }
    std::string reason; ///< why one of both, or both, are not there; a sentence without a full stop
};

/// Runs the bypassed file (see bypass.h) and the float model on these samples, at least one, both with the float
/// model's weights; where these differ, with its other constants, too; else, or where stored constants have no float
/// partner, with those that are stored; at last each with its own. The others are run only where the first are the
/// same. Beyond the memory limit there is a reason in place of a distance, or no place is told.
NetworkProof proveNetwork(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work = {});
/// The same on one sample.
NetworkProof proveNetwork(const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work = {});

/// Nothing can be told by such a sample: each of its inputs holds one number everywhere.
bool isFlat(const std::vector<Tensor>& inputs);

} // namespace qs
