// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/blocks/block_panels.h"

namespace qs {

/// True where this CPU has the instructions that multiplyBlockRows() needs: those of hasFloatRows().
bool hasBlockRows();
/// y[m * b.rows + r] = sum over the inputs, in order, of x[m * b.depth + input] * weight: the weight rounded as
/// dequantizeBlocks() does it, each product and its addition rounded once. The same bits for any `rows` and as
/// multiplyPixels() has them of these weights. Only rows r of panels firstPanel .. lastPanel - 1.
void multiplyBlockRows(
    const float* x, int64_t rows, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y);

} // namespace qs
