// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef> // first: moc cannot read <compare> before it

#include <compare>
#include <cstdint>
#include <functional>

namespace qs {

/// Dense 32-bit index with a type of its own, so that a node index is never used for a value.
template <class Tag> struct Id {
    static constexpr uint32_t kInvalid = UINT32_MAX;
    uint32_t v = kInvalid;

    constexpr Id() = default;
    constexpr explicit Id(size_t index)
        : v(static_cast<uint32_t>(index))
    {
    }
    constexpr bool valid() const { return v != kInvalid; }
    constexpr size_t index() const { return v; }
    constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;

} // namespace qs

template <class Tag> struct std::hash<qs::Id<Tag>> {
    size_t operator()(const qs::Id<Tag>& id) const noexcept { return std::hash<uint32_t> {}(id.v); }
};
