// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <cstdint>
#include <string>

namespace qs {

/// What the elements of an output say of classes, as far as its type, name and operator tell.
enum class ScoreKind : uint8_t {
    None, ///< no scores: states, boxes, features, whole numbers
    Ranked, ///< the largest names a class, but they are no distribution: each is a probability of its own (Sigmoid)
    Logits, ///< a softmax makes them probabilities
    Probabilities, ///< they are (Softmax)
    LogProbabilities, ///< their logarithms are (LogSoftmax)
};

/// Type of the operator that computes a value, past those that move elements, convert or quantize; empty: none does.
std::string computingOperator(const Plan& plan, ValueId value);

/// Of a graph output of the float model. Shape is not looked at here.
ScoreKind scoreKindOf(const Plan& plan, ValueId output);

} // namespace qs
