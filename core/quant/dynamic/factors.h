// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qoperator/builder.h"

namespace qs {

/// What a product multiplies, as codes.
struct DynamicFactors {
    QOperand x, w;
};
/// Inputs 0 and 1 of the node; the second along `axis` where the recipe says per channel and it is constant. Nothing
/// where one of them cannot be quantized: the node was then kept in float.
Result<std::optional<DynamicFactors>> dynamicFactors(
    QOperatorBuilder& b, const DraftNode& node, std::optional<int64_t> axis);

} // namespace qs
