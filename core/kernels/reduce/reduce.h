// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/reduce/norm.h"
#include "core/tensor/shape.h"

#include <span>

namespace qs {

enum class ReduceKind { Sum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare };

/// Which axes of a shape go away; neighbouring axes that are treated alike are merged.
struct ReducePlan {
    /// Offsets of the outputs' first elements and, from there, of the elements folded into one output.
    std::vector<int64_t> kept { 0 };
    std::vector<int64_t> folded { 0 };
    /// Innermost merged axis: `run` contiguous elements that are folded too, or that stay as `run` outputs.
    int64_t run = 1;
    bool runFolded = true;
    int64_t foldedCount() const { return int64_t(folded.size()) * (runFolded ? run : 1); }
    int64_t outputCount() const { return int64_t(kept.size()) * (runFolded ? 1 : run); }
};
ReducePlan makeReducePlan(const Shape& shape, const std::vector<bool>& reduced);

/// T: float, double and all integers of whole bytes. Floats are summed in double, integers in 64 bits (wrapping);
/// outputs in row-major order. Over no elements: 0 for sums, 1 for Prod, the lowest or highest value for Max and Min.
template <class T> void reduce(ReduceKind kind, const ReducePlan& plan, const T* x, T* y) noexcept;
/// Naive version in double.
void reduceReference(ReduceKind kind, const Shape& shape, const std::vector<bool>& reduced, std::span<const double> x,
    std::span<double> y);

/// (x - mean) / (standard deviation + 1e-9) over the folded axes, or x - mean. T: float, double.
template <class T>
void meanVarianceNormalize(const ReducePlan& plan, const T* x, T* y, bool byDeviation = true) noexcept;

enum class ArgKind { Max, Min };
enum class ArgTie { First, Last };
/// Index along the middle axis; y has outer x inner elements. T as for reduce.
template <class T> void argReduce(ArgKind kind, ArgTie tie, const AxisShape& s, const T* x, int64_t* y) noexcept;

struct CumSumParams {
    bool exclusive = false;
    bool reverse = false;
    bool product = false; ///< products instead of sums
};
/// T: float, double, int32_t, int64_t, uint32_t, uint64_t; floats are summed in double.
template <class T> void cumSum(const CumSumParams& p, const AxisShape& s, const T* x, T* y) noexcept;

} // namespace qs
