// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/calibration_data.h"
#include "core/stats/largest_values.h"

#include <optional>
#include <vector>

namespace qs {

/// The ends of a tensor's values, from which a percentile's cut follows in one pass: how many values lie beyond an edge
/// decides where the cumulated histogram reaches the percentile, and only few do.
class PercentileTails {
public:
    /// `expected`: values there will be, more or less.
    PercentileTails(const PercentileCut& cut, double expected);
    /// Too many values would have to be kept.
    bool tooLong() const { return m_tails.empty(); }
    void add(std::span<const float> values);
    /// The interval that the histogram of all values between these edges gives; nothing where the tails are too short,
    /// or where the percentile is met so exactly that rounding decides.
    std::optional<Interval> interval(std::span<const float> edges) const;

private:
    std::optional<float> upperEnd(std::span<const float> edges) const;
    std::optional<float> lowerEnd(std::span<const float> edges) const;
    double m_upper, m_lower; ///< shares of the values below the ends
    std::vector<LargestValues> m_tails; ///< of the upper end, of the lower end
    uint64_t m_count = 0;
};

} // namespace qs
