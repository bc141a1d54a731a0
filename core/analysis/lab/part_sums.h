// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qs {

/// Sums over the finite elements of one part of a pair: a channel, a place, a band of magnitudes.
struct PartSums {
    uint64_t count = 0;
    double xx = 0, ee = 0; ///< x*x, (y-x)^2
    double maxError = 0;
    double lowX = 0, highX = 0, lowY = 0, highY = 0; ///< 0 when empty
    void add(float x, float y);
    void merge(const PartSums& other);
    Number sqnrDb() const; ///< empty when equal or without signal
    bool exact() const { return count > 0 && ee == 0; }
    double rmse() const;
};

/// Elements whose float value has this magnitude.
struct MagnitudeBand {
    double low = 0, high = 0; ///< of |x|; the first begins at 0
    PartSums sums;
};

/// Sorts pairs by the magnitude of the float value, a factor of two each.
class MagnitudeBands {
public:
    MagnitudeBands();
    void add(float x, float y);
    /// Ascending, up to the largest; the first holds what is smaller still.
    std::vector<MagnitudeBand> take() const;

private:
    std::vector<PartSums> m_bands;
};

} // namespace qs
