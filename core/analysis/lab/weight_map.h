// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "core/analysis/lab/part_sums.h"
#include "core/analysis/rows/weight_row.h"
#include "core/analysis/values/tensor_values.h"

#include <optional>

namespace qs {

/// The errors of one weight over its output channels (rows) and what each of them sums over (columns, in the order of
/// the float weight), in cells: where scales are per block, a cell is a block, else so many elements that the cells of
/// a row are few.
struct WeightMap {
    size_t cellElements = 1; ///< of a row, in a cell; the last one of a row may have fewer
    bool blocks = false; ///< scales are per block: a cell is one, or some where there are a great many
    bool exchanged = false; ///< rows are the last axis of a matrix, columns the one before
    bool matrix = false; ///< of two axes: places can be told as index and index
    ErrorMap map; ///< in cells; RMS
    std::vector<double> scale; ///< by cell, the largest magnitude within; empty without codes
    std::vector<MagnitudeBand> bands;
    /// Cells by error, the largest first; no more than `most`, none that are exact.
    std::vector<size_t> worst(size_t most) const;
    Number sqnrDb(size_t cell) const; ///< empty where it is exact, or has no signal
    /// The same map with scales in place of errors.
    ErrorMap scales() const;
};

/// Of a weight as readValues() has it. `other`: of the second quantized model in place of the first. Nothing where
/// that model or the float one does not have it, or where it was cancelled.
std::optional<WeightMap> weightMap(
    const TensorValues& values, const WeightRow& row, bool other, const CancelToken& cancel = {});

} // namespace qs
