// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/similarity.h"

#include <algorithm>
#include <cmath>

namespace qs {

Number powerRatioDb(double signal, double noise)
{
    if (noise <= 0 || signal <= 0)
        return std::nullopt;
    return 10 * std::log10(signal / noise);
}

Similarity similarityOf(const PairSums& s)
{
    Similarity r;
    r.elements = s.count;
    r.nonFinite = s.nonFinite;
    if (s.count == 0)
        return r;
    const auto n = static_cast<double>(s.count);
    r.exact = s.ee == 0 && s.nonFinite == 0;
    r.sqnrDb = powerRatioDb(s.xx, s.ee);
    r.rmse = std::sqrt(s.ee / n);
    r.maxAbsError = s.maxError;
    r.meanError = s.e / n;
    if (s.xx > 0 && s.yy > 0)
        r.cosine = r.exact ? 1.0 : std::clamp(s.xy / std::sqrt(s.xx * s.yy), -1.0, 1.0);
    return r;
}

} // namespace qs
