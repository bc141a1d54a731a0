// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/blocks/block_panels.h"

namespace qs {

/// multiplyCodes() by dot products of bytes. Needs hasDotProducts().
void multiplyCodesByDots(
    const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept;

} // namespace qs
