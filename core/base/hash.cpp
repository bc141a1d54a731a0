// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"

#include <cstring>
#include <xxhash.h>

namespace qs {

std::string Hash128::hex() const
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (uint64_t word : { high, low })
        for (int shift = 60; shift >= 0; shift -= 4)
            text += digits[(word >> shift) & 15];
    return text;
}

Hash128 hashBytes(std::span<const std::byte> bytes)
{
    const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
    return { h.low64, h.high64 };
}

Hash128 hashText(std::string_view text) { return hashBytes(std::as_bytes(std::span(text.data(), text.size()))); }

Hash128 combine(Hash128 a, Hash128 b)
{
    const uint64_t words[4] = { a.low, a.high, b.low, b.high };
    return hashBytes(std::as_bytes(std::span(words)));
}

} // namespace qs
