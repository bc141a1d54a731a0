// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/rounding/precision.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A constant that the two files have with other values, none of them codes.
struct WeightRounding {
    std::string name, quantizedName, node; ///< names of the constant in both files; the float file's node
    std::optional<Precision> precision; ///< the other's values are these, rounded to it; nothing: other values
    double distance = 0; ///< relative, |w - w'| / |w|
    bool zeros = false; ///< the quantized file's holds nothing else
    bool onGrid = false; ///< the quantized file's are the float model's, rounded to codes and stored as reals
    std::vector<int64_t> rows {}; ///< indices of the first axis that alone differ, where these are few

    /// What the quantized file's is in place of this one, without a full stop: one number everywhere, or what another
    /// constant of the float model holds; empty: neither.
    std::string holds {};

    bool other() const { return !precision && !onGrid; } ///< no rounding makes one out of the other
};

/// The lowest precision in which one of two files has values that are no codes, and which these are.
struct PrecisionStep {
    Precision precision = Precision::Float32;
    bool weights = false; ///< constants are of this type, or were rounded to it
    bool values = false; ///< what nodes make is of this type
    bool inFloatFile = false, inQuantizedFile = false;
    std::vector<WeightRounding> roundings; ///< in the order of the float file's nodes
};

PrecisionStep precisionStep(const ComparePair& pair);

} // namespace qs
