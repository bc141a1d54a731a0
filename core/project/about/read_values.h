// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/tensor_values.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// A tensor of a snapshot.
struct TensorPlace {
    bool quantized = false; ///< `value` is of the quantized model
    ValueId value;
    std::optional<size_t> weight; ///< row of Comparison::weights; the only way to those in bodies
    /// Of the float model's tensors for which several pairs of quantizers stand: the value of the quantized model that
    /// is meant. Invalid: the first one.
    ValueId partner {};
    bool isPair(ValueId x, ValueId y) const { return value == x && (!partner.valid() || partner == y); }
    bool operator==(const TensorPlace&) const = default;
};

/// Its name; empty where there is no such tensor.
std::string nameOf(const Snapshot& snapshot, const TensorPlace& place);
/// The tensor of that name; nothing where there is none.
std::optional<TensorPlace> tensorNamed(const Snapshot& snapshot, const std::string& name, bool quantized);
/// The same tensor in the snapshot of the second quantized model; of several pairs the one that the same nodes read.
std::optional<TensorPlace> tensorInOther(const Snapshot& snapshot, const TensorPlace& place);
/// Its values follow from the file alone.
bool isConstant(const Snapshot& snapshot, const TensorPlace& place);

/// Its numbers in all models of the snapshot that have it, for one sample where they depend on data. Weights are taken
/// as the float model uses them, with BatchNormalization folded in where the quantized file has it so. Takes as long as
/// running the models up to there.
Result<TensorValues> readValues(
    const Snapshot& snapshot, const TensorPlace& place, size_t sample, const WorkContext& work);

} // namespace qs
