// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrators.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kSteps = 128; ///< candidates for an end in each round
constexpr int kRounds = 3;

/// Sums over the bins below a value, each bin taken as evenly filled.
class Moments {
public:
    explicit Moments(const Histogram& histogram)
        : m_low(histogram.low())
        , m_width(histogram.binWidth())
        , m_sums(histogram.counts().size() + 1)
    {
        for (size_t i = 0; i < histogram.counts().size(); ++i) {
            const auto count = static_cast<double>(histogram.counts()[i]);
            const double middle = m_low + (static_cast<double>(i) + 0.5) * m_width;
            m_sums[i + 1] = { m_sums[i].count + count, m_sums[i].sum + count * middle,
                m_sums[i].squares + count * middle * middle };
        }
    }
    /// Sum of (x - end)^2 of the values below `end`, or above it.
    double below(double end) const { return squares(Sums {}, at(end), end); }
    double above(double end) const { return squares(at(end), m_sums.back(), end); }
    double countBetween(double low, double high) const { return at(high).count - at(low).count; }

private:
    struct Sums {
        double count = 0, sum = 0, squares = 0;
    };
    static double squares(const Sums& from, const Sums& to, double end)
    {
        const double count = to.count - from.count, sum = to.sum - from.sum, squares = to.squares - from.squares;
        return std::max(squares - 2 * end * sum + end * end * count, 0.0);
    }
    const Sums& at(double value) const
    {
        const double bin = roundHalfAway((value - m_low) / m_width);
        return m_sums[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(m_sums.size() - 1)))];
    }
    double m_low, m_width;
    std::vector<Sums> m_sums; ///< of the bins in front
};

} // namespace

Interval leastSquaresCut(const Histogram& histogram, int levels)
{
    const double lowest = std::min(histogram.smallest(), 0.0);
    const double highest = std::max(histogram.largest(), 0.0);
    if (lowest == highest)
        return { static_cast<float>(histogram.smallest()), static_cast<float>(histogram.largest()) };
    const Moments moments(histogram);
    auto error = [&](double low, double high) {
        const double step = (high - low) / levels;
        return moments.below(low) + moments.above(high) + moments.countBetween(low, high) * step * step / 12;
    };
    double low = lowest, high = highest, least = error(low, high);
    for (int round = 0; round < kRounds; ++round) {
        const double before = least;
        for (int i = 0; i <= kSteps; ++i)
            if (const double end = highest * i / kSteps, e = error(low, end); end > low && e < least) {
                least = e;
                high = end;
            }
        for (int i = 0; i <= kSteps; ++i)
            if (const double end = lowest * i / kSteps, e = error(end, high); end < high && e < least) {
                least = e;
                low = end;
            }
        if (least == before)
            break;
    }
    return { static_cast<float>(low), static_cast<float>(high) };
}

} // namespace qs
