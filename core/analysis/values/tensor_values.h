// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/analysis/values/elements.h"
#include "core/base/work/cancel.h"
#include "core/tensor/tensor_slice.h"

#include <optional>
#include <string>

/// The numbers of one tensor in all models that have it: read, summed up, searched.
namespace qs {

struct TensorValues {
    std::string name; ///< in the float model, else in the quantized one
    Shape shape; ///< of the first of the following that is there; the others have as many elements
    std::optional<Elements> reference; ///< of the float model
    std::optional<Elements> quantized; ///< of the first quantized model
    std::optional<Elements> other; ///< of the second one
    std::optional<size_t> sample; ///< that they are of; nothing for constants
    std::string note; ///< why a model of the snapshot has nothing here; may be empty
    size_t count() const { return size_t(elementCount(shape).value_or(0)); }
};

enum class ValueKind {
    Float,
    Quantized, ///< as reals
    Codes,
    Difference, ///< quantized - float
    Relative, ///< the same over |float|
    Other, ///< of the second quantized model
    OtherCodes,
    OtherDifference, ///< it - float
    Between, ///< second - first quantized
};
inline constexpr int kValueKinds = int(ValueKind::Between) + 1;
bool hasKind(const TensorValues& values, ValueKind kind);
/// The quantized side that a kind is about; null for the float one.
const Elements* quantizedOf(const TensorValues& values, ValueKind kind);
bool isCodes(ValueKind kind);
/// Only where hasKind(). Infinite where a relative difference has no float value to relate to.
double valueAt(const TensorValues& values, ValueKind kind, size_t element);

/// Of the finite values, but for the last two lines.
struct ValueStatistics {
    uint64_t count = 0; ///< of all
    uint64_t finite = 0, zeros = 0, nans = 0, infinities = 0;
    double lowest = 0, highest = 0, mean = 0, deviation = 0;
    double largest = 0; ///< magnitude
    std::optional<uint64_t> distinctCodes; ///< codes of at most 16 bits
    Number atLimits; ///< share of the codes that are the lowest or highest
    Number sqnrDb; ///< of the kind's two sides; nothing without two of them, or where they are equal
    bool exact = false; ///< they are equal
};
/// Nothing where it was cancelled.
std::optional<ValueStatistics> statisticsOf(
    const TensorValues& values, ValueKind kind, const SliceGrid& grid, const CancelToken& cancel = {});

enum class FindWhat { Above, Below, Equal, NotFinite, AtLimit, LargestDifference, Lowest, Highest };
struct ValueSearch {
    FindWhat what = FindWhat::Above;
    double value = 0; ///< of Above, Below and Equal
    bool backwards = false;
};
/// Position in the grid: the next after `from` (none: from the beginning), around its end; of the last three the place
/// in the whole grid, whatever `from` is. Equal takes what a float32 number would be for it. Nothing where there is
/// none, or where it was cancelled.
std::optional<size_t> findValue(const TensorValues& values, ValueKind kind, const SliceGrid& grid,
    const ValueSearch& search, std::optional<size_t> from, const CancelToken& cancel = {});

} // namespace qs
