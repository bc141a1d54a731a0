// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace qs {

/// How prompts, heads, positions and channels lie in a tensor.
struct CacheLayout {
    enum class Form {
        Heads, ///< an axis for each of them, or for all but heads (then there is one)
        Rows, ///< prompts x positions x rows, a row holds the channels of some heads behind each other
        Joined, ///< 2 x prompts x heads x positions x channels: keys, values
    };
    Form form = Form::Heads;
    std::array<int, 4> axes { 0, 1, 2, 3 }; ///< of Heads: where prompts, heads, positions and channels are
    std::optional<int64_t> tokenAxis; ///< of Heads: where it is not as `axes` says; from the end where negative
    int64_t heads = 1, firstHead = 0, rowHeads = 1; ///< of Rows: which of all heads in a row
    int64_t part = 0; ///< of Joined
};

/// Channels of a head that a rotary embedding turns together.
struct RotaryPairs {
    bool interleaved = false; ///< neighbours; else one of the first half with one of the second
    int64_t rotated = 0; ///< channels that are turned, from the first on; 0: all
    /// The other channel of a pair of `size` channels; itself where it is not turned.
    int64_t partner(int64_t channel, int64_t size) const;
};

} // namespace qs
