// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/copy_on_write.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace qs {

/// Counts of bins, each in as few bytes as their sum needs. Copies share their memory until one of them is changed.
class BinCounts {
public:
    BinCounts() = default;
    explicit BinCounts(const std::vector<uint64_t>& counts);

    size_t size() const;
    bool empty() const { return size() == 0; }
    uint64_t operator[](size_t bin) const;
    uint64_t total() const { return m_total; }
    std::vector<uint64_t> toVector() const;
    size_t bytes() const; ///< of memory
    bool sharesWith(const BinCounts& other) const { return m_cells.sharesWith(other.m_cells); }

    void add(size_t bin, uint64_t times);
    /// As countBins() does.
    void add(std::span<const float> values, int exponent, int32_t first);
    void add(const BinCounts& other); ///< of as many bins
    /// The same counts in `size` bins: bin i goes to place (first + i) / 2^shift - newFirst, rounded down.
    BinCounts rebinned(int64_t first, int shift, int64_t newFirst, size_t size) const;
    bool operator==(const BinCounts&) const = default;

private:
    using Cells = std::variant<std::vector<uint16_t>, std::vector<uint32_t>, std::vector<uint64_t>>;
    static Cells cellsFor(uint64_t total, size_t size);
    Cells& roomFor(uint64_t more); ///< cells wide enough; `more` is in the total then

    CopyOnWrite<Cells> m_cells; ///< as wide as the total says
    uint64_t m_total = 0;
};

} // namespace qs
