// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/masks.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int64_t kMostClasses = 4096; ///< that whole numbers may name

} // namespace

std::optional<MaskLayout> maskLayout(const Shape& shape, size_t samples, bool channelsLast, bool holdsClasses)
{
    const bool bare = holdsClasses && shape.size() == 3;
    if ((shape.size() != 4 && !bare) || samples == 0 || shape[0] != int64_t(samples))
        return std::nullopt;
    const int64_t classes = bare ? 1 : shape[channelsLast ? 3 : 1];
    const int64_t pixels = bare ? shape[1] * shape[2] : channelsLast ? shape[1] * shape[2] : shape[2] * shape[3];
    if (classes < 1 || pixels < 1 || (holdsClasses && classes != 1))
        return std::nullopt;
    return MaskLayout { size_t(classes), size_t(pixels), channelsLast, holdsClasses };
}

std::vector<int64_t> maskOf(const float* v, const MaskLayout& layout, float threshold)
{
    std::vector<int64_t> mask(layout.pixels, 0);
    if (layout.holdsClasses) {
        for (size_t i = 0; i < mask.size(); ++i)
            mask[i] = std::isfinite(v[i]) ? std::clamp<int64_t>(std::llround(v[i]), 0, kMostClasses) : 0;
        return mask;
    }
    if (layout.classes == 1) {
        for (size_t i = 0; i < mask.size(); ++i)
            mask[i] = v[i] > threshold;
        return mask;
    }
    const size_t pixelStep = layout.channelsLast ? layout.classes : 1, step = layout.channelsLast ? 1 : layout.pixels;
    for (size_t i = 0; i < mask.size(); ++i) {
        const float* at = v + i * pixelStep;
        size_t best = 0;
        for (size_t c = 1; c < layout.classes; ++c)
            if (at[c * step] > at[best * step] || std::isnan(at[best * step]))
                best = c;
        mask[i] = int64_t(best);
    }
    return mask;
}

float maskThreshold(const float* floatValues, size_t count, ScoreKind kind)
{
    const bool shares = kind == ScoreKind::Ranked || kind == ScoreKind::Probabilities
        || std::all_of(floatValues, floatValues + count, [](float v) { return v >= 0 && v <= 1; });
    return shares ? 0.5F : 0.0F;
}

MaskSums maskSums(const std::vector<int64_t>& x, const std::vector<int64_t>& y, bool background, PartCounts& counts)
{
    MaskSums sums { double(x.size()), 0, -1 };
    PartCounts here;
    for (size_t i = 0; i < x.size(); ++i) {
        const bool agrees = x[i] == y[i];
        sums.agreeing += agrees;
        here.add(size_t(x[i]), 1, agrees);
        if (!agrees)
            here.add(size_t(y[i]), 1, 0);
    }
    if (!background && !here.all.empty())
        here.all[0] = here.same[0] = 0;
    double total = 0, classes = 0;
    for (size_t c = 0; c < here.all.size(); ++c)
        if (here.all[c] > 0) {
            total += double(here.same[c]) / double(here.all[c]);
            ++classes;
        }
    if (classes > 0)
        sums.overlap = total / classes;
    counts.merge(here);
    return sums;
}

} // namespace qs
