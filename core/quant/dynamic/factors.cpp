// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/dynamic/factors.h"

namespace qs {

Result<std::optional<DynamicFactors>> dynamicFactors(
    QOperatorBuilder& b, const DraftNode& node, std::optional<int64_t> axis)
{
    if (!b.recipe.perChannel || !b.isConstant(node.inputs[1]))
        axis.reset();
    QS_TRY(const auto x, b.activation(node.inputs[0]));
    QS_TRY(const auto w, b.weight(node.inputs[1], axis, b.recipe.weightType));
    if (x && w)
        return std::optional(DynamicFactors { *x, *w });
    QS_CHECK(b.leaveWithout(node, { node.inputs[0], node.inputs[1] }));
    return std::optional<DynamicFactors>();
}

} // namespace qs
