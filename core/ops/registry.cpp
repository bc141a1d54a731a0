// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/op.h"

namespace qs {

const Op* OpRegistry::find(const Node& node) const
{
    const Op* best = nullptr;
    const auto ofType = m_byType.find(node.opType);
    if (ofType == m_byType.end())
        return nullptr;
    for (size_t index : ofType->second) {
        const Op& op = m_ops[index];
        if (op.domain == node.domain && (node.opset == 0 || op.firstVersion <= node.opset)
            && (!best || op.firstVersion > best->firstVersion))
            best = &op;
    }
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
        registerControlOps(r);
        registerSequenceOps(r);
        registerAudioOps(r);
        registerRecurrentOps(r);
        registerIntegerProductOps(r);
        registerMicrosoftOps(r);
        registerAttentionOps(r);
        registerLossOps(r);
        registerVisionOps(r);
        registerAlgebraOps(r);
        registerTextOps(r);
        registerRandomOps(r);
        registerMlOps(r);
        return r;
    }();
    return registry;
}

} // namespace qs
