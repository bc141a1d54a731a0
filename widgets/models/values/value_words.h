// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/tensor_values.h"

#include <QString>

/// Raw numbers of a tensor in the window's words.
namespace qs {

/// "Quantized − float"; with a second quantized model "A − float".
QString kindTitle(ValueKind kind, bool two = false);
/// A code, with its sign or as hexadecimal digits of its two's complement: "−3", "FD".
QString codeText(int64_t code, DType type, bool hex);
/// "0.0239 × (−110 − (−128)) = 0.43"; the element must have a code.
QString dequantizedText(const Elements& side, size_t element);
/// All that is known of an element, in lines.
QString elementText(const TensorValues& values, size_t element);
/// "400 values · min −1.2 · max 3.4 · mean 0.02 · std 0.4 · 3 zeros · 212 codes · 1.2 % at the limits · SQNR 32.1 dB"
QString statisticsText(const ValueStatistics& statistics, int digits);

} // namespace qs
