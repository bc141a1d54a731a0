// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_product.h"

/// Vector loops that integer_product.h and integer_conv.h are made of.
namespace qs {

/// Neighbouring codes; null: n that equal the zero point.
struct CodeRun {
    const uint8_t* codes = nullptr;
    int64_t n = 0;
};
/// A row of numbers from runs one after another, and further rows from codes that lie `step` further each time.
struct CodeRows {
    std::span<const CodeRun> runs;
    int64_t rows = 1, step = 0;
    int64_t length = 0; ///< of a row; zeros stand behind the runs
};
/// Numbers behind the last row that widenRows() may write too.
constexpr int64_t kWidenSlack = 32;
/// All codes minus the zero point, as 16-bit numbers. What lies before `end` may be read; where the last
/// run ends there, nothing is written behind the rows.
void widenRows(const CodeRows& rows, bool isSigned, int32_t zeroPoint, const uint8_t* end, int16_t* out);

} // namespace qs
