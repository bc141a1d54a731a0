// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qs {

/// XXH3-128 digest; the content key of weights, values and results.
struct Hash128 {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const Hash128&) const = default;
    bool operator<(const Hash128& other) const { return high != other.high ? high < other.high : low < other.low; }
    std::string hex() const;
};

Hash128 hashBytes(std::span<const std::byte> bytes);
Hash128 hashText(std::string_view text);
Hash128 combine(Hash128 a, Hash128 b);

} // namespace qs
