// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <string>
#include <vector>

namespace qs {

/// How one of two quantized files treats a tensor.
struct TensorParameters {
    std::string quantizedName;
    QuantParams params; ///< no scales when dynamic
    bool dynamic = false;
    Number sqnrDb; ///< accumulated (activations), of the stored values (constants)
    Number localSqnrDb; ///< of this quantizer alone
};

/// A tensor that at least one of two quantized files quantizes.
struct ParameterDifference {
    enum class Kind { Activation, Weight, Bias };
    std::string name, node, opType; ///< of the float file
    Kind kind = Kind::Activation;
    std::optional<TensorParameters> a, b; ///< empty where that file has no quantizer for it
    bool same = false; ///< equal type, axis and zero points, scales within 1e-6
    Number scaleRatio; ///< largest scale of b over largest of a, by magnitude
    /// What b's quantizer gives at this tensor over a's, dB: the noise that both inherit is taken to be that of the
    /// better file, to which each adds its own, and never so much that the sum were more than the noise measured in
    /// that file (a constant: at the output of its node).
    double gainDb = 0;
};
std::string_view parameterKindName(ParameterDifference::Kind kind); ///< "activation", "weight", "bias"

/// Of two comparisons of one float model over the same samples; largest consequence first.
std::vector<ParameterDifference> parameterDifferences(const Comparison& a, const Comparison& b);

} // namespace qs
