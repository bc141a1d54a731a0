// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <cstdint>

namespace qs {

/// What the elements of an output say of classes, as far as its type, name and operator tell.
enum class ScoreKind : uint8_t {
    None, ///< no scores: states, boxes, features, whole numbers
    Ranked, ///< the largest names a class, but they are no distribution: each is a probability of its own (Sigmoid)
    Logits, ///< a softmax makes them probabilities
    Probabilities, ///< they are (Softmax)
    LogProbabilities, ///< their logarithms are (LogSoftmax)
};

/// What computes a value, past operators that move elements, convert or quantize.
struct ComputedValue {
    const Node* node = nullptr; ///< null: none does
    ValueId value; ///< of its outputs
};
ComputedValue computedValue(const Plan& plan, ValueId value);

/// Whole numbers that say which elements were chosen: numbers as such they are none, and no error can be told of them.
enum class ChoiceKind : uint8_t {
    None,
    Best, ///< classes [.., 1] that ArgMax or ArgMin names
    Ordered, ///< indices [.., K] that TopK names along the last axis, the best first
    Others, ///< of other axes, or of NonMaxSuppression
};
ChoiceKind choiceKindOf(const Plan& plan, ValueId output);

/// Of a graph output of the float model. Shape is not looked at here.
ScoreKind scoreKindOf(const Plan& plan, ValueId output);

} // namespace qs
