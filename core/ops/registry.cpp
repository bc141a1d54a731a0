// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/op.h"

namespace qs {

const Op* OpRegistry::find(const Node& node) const
{
    const Op* best = nullptr;
    for (const Op& op : m_ops)
        if (op.type == node.opType && op.domain == node.domain && (node.opset == 0 || op.firstVersion <= node.opset)
            && (!best || op.firstVersion > best->firstVersion))
            best = &op;
    return best;
}

const OpRegistry& opRegistry()
{
    static const OpRegistry registry = [] {
        OpRegistry r;
        registerElementwiseOps(r);
        registerQuantOps(r);
        registerConvOps(r);
        registerMatmulOps(r);
        registerNormOps(r);
        registerReduceOps(r);
        registerShapeOps(r);
        registerIndexOps(r);
        registerIntegerProductOps(r);
        return r;
    }();
    return registry;
}

} // namespace qs
