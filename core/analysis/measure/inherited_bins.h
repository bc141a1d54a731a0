// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/copy_on_write.h"
#include "core/base/files/byte_stream.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace qs {

/// What came into a quantizer with an error, a(p) - x, by where a(p) lies against the quantizer's range: equal bins
/// inside, ever wider ones outside. Sums are integers in units of a fraction of the range, so that merging in any order
/// gives the same. Errors beyond 16 ranges count as 16. Copies share their bins until one of them is changed.
class InheritedBins {
public:
    static constexpr size_t kInside = 128, kOutside = 32; ///< kOutside on each side
    struct Moments {
        double mean = 0, square = 0; ///< of a(p) - x
    };

    /// Bins for the range low < high; empty, and no range: of no quantizer.
    InheritedBins() = default;
    InheritedBins(double low, double high);
    bool hasRange() const { return m_high > m_low; }
    bool empty() const { return m_all.count == 0; }
    void add(double value, double error);
    void merge(const InheritedBins& other);
    /// Of the values like this one; of all where there are none.
    Moments at(double value) const;
    bool operator==(const InheritedBins&) const = default;
    void write(ByteWriter& out) const;
    /// What write() wrote.
    static InheritedBins read(ByteReader& in);

private:
    struct Bin {
        uint64_t count = 0, square = 0;
        int64_t sum = 0;
        bool operator==(const Bin&) const = default;
    };
    size_t indexOf(double value) const;
    Moments momentsOf(const Bin& bin) const;

    double m_low = 0, m_high = 0;
    double m_perRange = 0; ///< 1 / (high - low)
    Bin m_all;
    using Bins = std::array<Bin, kInside + 2 * kOutside>;
    CopyOnWrite<Bins> m_bins;
};

} // namespace qs
