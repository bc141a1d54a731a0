// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/blocks/block_panels.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace qs {

/// Rows of activations and the panel of weights that they meet.
struct BlockTile {
    const CodedRows& a;
    const BlockPanels& b;
    int64_t row, panel;
    float* y; ///< of the first row and the panel's first column
};
using BlockTileFn = void (*)(const BlockTile&);

/// Kernels of one, two ... kMostRows rows of activations, by the weights' codes.
template <size_t kMostRows> struct BlockTileFns {
    std::array<BlockTileFn, kMostRows> halves, whole;
};

/// multiplyCodes(), tile by tile.
template <size_t kMostRows>
void multiplyTiles(const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y,
    const BlockTileFns<kMostRows>& kernels) noexcept
{
    constexpr auto kMost = static_cast<int64_t>(kMostRows);
    const int64_t tiles = (a.rows + kMost - 1) / kMost;
    for (int64_t panel = firstPanel; panel < lastPanel; ++panel)
        for (int64_t i = 0; i < tiles; ++i) { // of nearly equal sizes: small ones leave registers empty
            const int64_t row = a.rows * i / tiles, count = a.rows * (i + 1) / tiles - row;
            const BlockTile tile { a, b, row, panel, y + row * b.rows + panel * kBlockPanel };
            (b.halves ? kernels.halves : kernels.whole)[static_cast<size_t>(count - 1)](tile);
        }
}

} // namespace qs
