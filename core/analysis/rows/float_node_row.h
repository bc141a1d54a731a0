// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/base/ids.h"
#include "core/quant/model/left_in_float.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

struct ComparePair;
struct Comparison;

/// A node of the quantized model that computes in float.
struct FloatNodeRow {
    NodeId quantNode;
    std::string node; ///< name in the float file where it has a partner there
    std::string opType;
    FloatReason reason;
    Number macShare; ///< of all multiplications of the float model; null where sizes are unknown
    bool between = false; ///< it reads codes and its result gets codes again: alone it keeps them from passing through
};

/// Nodes that compute with floats and are no part of a unit on codes, with the reason: what the quantizer said where
/// the model was made here, else what the file shows. Left out are constants, integers (shapes, indices), what only
/// serves quantization, and what reads values of operators that cannot be run, which may be quantizers. After the
/// activations.
void fillFloatNodes(const ComparePair& pair, Comparison& result);

/// The row of a node by its name in the float file (in the quantized one, where it has no partner); null for one that
/// is quantized or not known.
const FloatNodeRow* whyFloat(const Comparison& comparison, std::string_view node);

} // namespace qs
