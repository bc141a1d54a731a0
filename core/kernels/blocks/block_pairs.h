// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/blocks/block_panels.h"

namespace qs {

/// The CPU adds pairs of products of bytes in 16 bits (AVX2).
bool hasPairProducts();

/// multiplyCodes() by pairs of products, none of which saturates. Needs hasPairProducts().
void multiplyCodesByPairs(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept;

} // namespace qs
