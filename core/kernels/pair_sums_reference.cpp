// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/pair_sums.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <cmath>

namespace qs {

void PairSums::merge(const PairSums& o)
{
    count += o.count;
    nonFinite += o.nonFinite;
    clipped += o.clipped;
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

void addPairSumsReference(PairSums& s, const float* x, const float* y, const float* p, size_t n,
    const PairQuantizer* quantizer, const PairActivation& activation)
{
    double lowest = 0, highest = 0;
    if (quantizer) {
        const double scale = quantizer->scale;
        lowest = scale * (double(quantizer->low) - quantizer->zeroPoint) - scale / 2;
        highest = scale * (double(quantizer->high) - quantizer->zeroPoint) + scale / 2;
    }
    for (size_t i = 0; i < n; ++i) {
        const float pi = p ? p[i] : y[i];
        if (!std::isfinite(x[i]) || !std::isfinite(y[i]) || !std::isfinite(pi)) {
            ++s.nonFinite;
            continue;
        }
        ++s.count;
        const double xd = x[i], yd = y[i];
        const double a = p ? std::clamp(pi, activation.low, activation.high) : pi;
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
        s.pp += double(pi) * pi;
        s.qdqEe += (yd - pi) * (yd - pi);
        s.inherited += error * (a - xd);
        const bool outside = quantizer && (a < lowest || a > highest);
        (outside ? s.clipping : s.rounding) += error * (yd - a);
        s.clipped += outside;
        if (quantizer) {
            const int32_t code
                = quantizeOne(x[i], quantizer->scale, quantizer->zeroPoint, quantizer->low, quantizer->high);
            const double local = dequantizeOne(code, quantizer->scale, quantizer->zeroPoint) - xd;
            s.localEe += local * local;
        }
    }
}

} // namespace qs
