// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/read_back/quantized_file.h"

#include <string>
#include <vector>

namespace qs {

/// In what the quantizers of two files of one float model differ, tensor by tensor: names of the float model, sorted.
struct QuantizerDifferences {
    std::vector<std::string> lacking; ///< that the first file alone quantizes
    std::vector<std::string> added; ///< that the second file alone quantizes
    std::vector<std::string> parameters; ///< of other types, scales, zero points or axes
    std::vector<std::string> codes; ///< constants of equal parameters whose codes differ
    size_t count() const { return lacking.size() + added.size() + parameters.size(); } ///< without codes
};

/// Bits count. Names of nodes, of constants and of values that only quantizers have do not.
QuantizerDifferences quantizerDifferences(const QuantizedFile& file, const QuantizedFile& made);

} // namespace qs
