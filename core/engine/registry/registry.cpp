// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/registry/registry.h"

namespace qs {

const LoweringRegistry& loweringRegistry()
{
    static const LoweringRegistry registry = [] {
        LoweringRegistry r;
        lowerElementwise(r);
        lowerQuant(r);
        lowerConv(r);
        lowerIntegerConv(r);
        lowerPools(r);
        lowerMatmul(r);
        lowerNorm(r);
        lowerReduce(r);
        lowerShape(r);
        lowerIndex(r);
        lowerIntegerProduct(r);
        lowerMicrosoft(r);
        lowerAttentions(r);
        lowerLosses(r);
        lowerVision(r);
        lowerAlgebra(r);
        lowerText(r);
        lowerRandom(r);
        lowerMl(r);
        lowerControl(r);
        lowerSequences(r);
        lowerAudio(r);
        lowerRecurrent(r);
        return r;
    }();
    return registry;
}

} // namespace qs
