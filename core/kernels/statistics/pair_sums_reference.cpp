// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/pair_sums.h"

#include "core/base/rounding.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

void PairSums::merge(const PairSums& o)
{
    count += o.count;
    nonFinite += o.nonFinite;
    clipped += o.clipped;
    clippedX += o.clippedX;
    xx += o.xx;
    yy += o.yy;
    xy += o.xy;
    ee += o.ee;
    e += o.e;
    maxError = std::max(maxError, o.maxError);
    localEe += o.localEe;
    pp += o.pp;
    qdqEe += o.qdqEe;
    rounding += o.rounding;
    clipping += o.clipping;
    inherited += o.inherited;
    lowX = std::min(lowX, o.lowX);
    highX = std::max(highX, o.highX);
    lowA = std::min(lowA, o.lowA);
    highA = std::max(highA, o.highA);
    nodeEe += o.nodeEe;
}

float PairQuantizer::dequantized(float x) const
{
    if (!isEven())
        return scale * smallFloatToFloat(grid, floatToSmallFloat(grid, x / scale, true));
    return dequantizeOne(quantizeOne(x, scale, zeroPoint, low, high), scale, zeroPoint);
}

void addPairSumsReference(PairSums& s, PairExtremes& extremes, const PairRun& run)
{
    const PairQuantizer* const quantizer = run.quantizer;
    const double lowest = quantizer ? quantizer->lowest() : 0, highest = quantizer ? quantizer->highest() : 0;
    for (size_t i = 0; i < run.n; ++i) {
        const float x = run.x[i], y = run.y[i], p = run.p ? run.p[i] : y;
        if (run.error)
            run.error[i] = y - x;
        if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(p)) {
            ++s.nonFinite;
            continue;
        }
        ++s.count;
        const double xd = x, yd = y;
        const double a = run.p ? std::clamp(p, run.activation.low, run.activation.high) : p;
        const double error = yd - xd;
        s.xx += xd * xd;
        s.yy += yd * yd;
        s.xy += xd * yd;
        s.ee += error * error;
        s.e += error;
        s.maxError = std::max(s.maxError, std::fabs(error));
        s.lowX = std::min(s.lowX, xd);
        s.highX = std::max(s.highX, xd);
        s.lowA = std::min(s.lowA, a);
        s.highA = std::max(s.highA, a);
        extremes.lowY = std::min(extremes.lowY, y);
        extremes.highY = std::max(extremes.highY, y);
        extremes.lowError = std::min(extremes.lowError, y - x);
        extremes.highError = std::max(extremes.highError, y - x);
        s.pp += double(p) * p;
        s.qdqEe += (yd - p) * (yd - p);
        s.inherited += error * (a - xd);
        const bool outside = quantizer && (a < lowest || a > highest);
        (outside ? s.clipping : s.rounding) += error * (yd - a);
        s.clipped += outside;
        s.clippedX += quantizer && (xd < lowest || xd > highest);
        if (quantizer) {
            const double local = quantizer->dequantized(x) - xd;
            s.localEe += local * local;
        }
    }
}

} // namespace qs
