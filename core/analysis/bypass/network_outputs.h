// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/base/work/work_context.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qs {

struct Lost; ///< see proof_distances.h

/// Two networks that are to be the same one.
struct TwoNetworks {
    std::shared_ptr<const Plan> f; ///< the float model, perhaps with other weights
    std::shared_ptr<const Plan> b; ///< the quantized file without its quantizers, under its names
};

/// A value of both, by the ids of each.
struct ValueOfBoth {
    ValueId f, b;
    ValueId shown; ///< of the float model as it is
};

/// Numbers of the float model that the other file's type does not hold: infinite there, or none.
struct ValueOverflow {
    ValueId floatValue; ///< the first one, in the float model's order
    uint64_t elements = 0; ///< on the sample
    double largest = 0; ///< absolute, of the float model
    std::string cast {}; ///< of the other file: the Cast to float16 behind the value, where that is float32 itself
};

/// Outputs that hold reals. In place of one that holds indices, classes or truth values, which a hair's breadth may
/// turn, what it is made from, as far as both files make it by the same operators.
std::vector<ValueOfBoth> comparableOutputs(const TwoNetworks& networks, const ComparePair& pair);
/// Which operators cannot be run by themselves, where every output depends on them: "2 Foo (com.example), 1 Bar
/// (com.example)"; empty where an output can be run.
std::string blockingOperators(const Plan& plan);
/// The paired values that hold reals, in the float model's order; none that an operator on codes bounds before it gives
/// them out.
std::vector<ValueOfBoth> comparableValues(
    const TwoNetworks& networks, const ComparePair& pair, const std::vector<PairPlan>& pairs);
/// Values without a partner that lead to `place` through such values alone, in the float model's order, beside those
/// of the same name: pairs whose numbers differ may have been given up for that very reason.
std::vector<ValueOfBoth> namesakesBefore(const TwoNetworks& networks, const ComparePair& pair, ValueId place);

/// Of values that stand in the float model's order, of each of which so much is lost: the first that float16 does not
/// hold, itself or in a Cast before it, up to `last` (invalid: to the end).
std::optional<ValueOverflow> firstOverflow(const TwoNetworks& networks, const ComparePair& pair,
    const std::vector<ValueOfBoth>& values, const std::vector<Lost>& lost, ValueId last,
    const std::vector<Tensor>& inputs, const WorkContext& work);

/// Whole numbers or truth values, and the share of them that are others in the second file.
struct OtherCounts {
    ValueId shown; ///< of the float model as it is
    double share = 0;
};
/// The first such value of which some are others though both files make it from the same reals by the same operators:
/// the second file is given the first one's reals, so that no rounding turns them. Nothing where all are the same, or
/// cannot be told.
std::optional<OtherCounts> otherCounts(
    const TwoNetworks& networks, const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work);

} // namespace qs
