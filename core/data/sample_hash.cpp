// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/sample_hash.h"

#include "core/base/hash.h"

#include <span>

namespace qs {

namespace {

/// The bytes of sample `s` of a feed; of all of it where it cannot be split.
std::span<const std::byte> slice(const Tensor& t, const Feed& feed, size_t s)
{
    const auto all = t.bytes();
    const size_t slices = feed.slicesOf(all.size()), part = all.size() / slices;
    return slices > 1 ? all.subspan(s * part, part) : all;
}

} // namespace

std::vector<uint64_t> sampleHashes(const Feed& feed)
{
    std::vector<uint64_t> hashes;
    for (size_t s = 0; s < feed.samples; ++s) {
        Hash128 key;
        for (const Tensor& t : feed.inputs)
            key = combine(key, hashBytes(slice(t, feed, s)));
        hashes.push_back(key.low);
    }
    return hashes;
}

} // namespace qs
