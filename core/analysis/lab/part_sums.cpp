// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/part_sums.h"

#include "core/analysis/rows/similarity.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kMostBands = 12; ///< below a thousandth of the largest values nothing is told apart
constexpr int kLowestExponent = -30, kHighestExponent = 40; ///< of magnitudes that are told apart

size_t bandOf(float x)
{
    if (x == 0)
        return 0;
    return size_t(std::clamp(std::ilogb(x), kLowestExponent, kHighestExponent) - kLowestExponent);
}

} // namespace

void PartSums::add(float x, float y)
{
    const double error = double(y) - x;
    lowX = count ? std::min<double>(lowX, x) : x;
    highX = count ? std::max<double>(highX, x) : x;
    lowY = count ? std::min<double>(lowY, y) : y;
    highY = count ? std::max<double>(highY, y) : y;
    ++count;
    xx += double(x) * x;
    ee += error * error;
    maxError = std::max(maxError, std::fabs(error));
}

void PartSums::merge(const PartSums& other)
{
    if (other.count == 0)
        return;
    lowX = count ? std::min(lowX, other.lowX) : other.lowX;
    highX = count ? std::max(highX, other.highX) : other.highX;
    lowY = count ? std::min(lowY, other.lowY) : other.lowY;
    highY = count ? std::max(highY, other.highY) : other.highY;
    count += other.count;
    xx += other.xx;
    ee += other.ee;
    maxError = std::max(maxError, other.maxError);
}

Number PartSums::sqnrDb() const { return powerRatioDb(xx, ee); }

double PartSums::rmse() const { return count ? std::sqrt(ee / double(count)) : 0; }

MagnitudeBands::MagnitudeBands()
    : m_bands(size_t(kHighestExponent - kLowestExponent) + 1)
{
}

void MagnitudeBands::add(float x, float y) { m_bands[bandOf(x)].add(x, y); }

std::vector<MagnitudeBand> MagnitudeBands::take() const
{
    size_t last = m_bands.size();
    while (last > 0 && m_bands[last - 1].count == 0)
        --last;
    const size_t first = last > kMostBands ? last - kMostBands : 0;
    std::vector<MagnitudeBand> bands;
    for (size_t i = first; i < last; ++i) {
        const int exponent = kLowestExponent + int(i);
        bands.push_back({ i == first ? 0 : std::ldexp(1.0, exponent), std::ldexp(1.0, exponent + 1), m_bands[i] });
    }
    for (size_t i = 0; i < first; ++i) // all smaller ones, and zero, are counted with the first
        bands.front().sums.merge(m_bands[i]);
    return bands;
}

} // namespace qs
