// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Text of a number as ONNX's Cast writes it: the shortest digits that read back as the same float32 (or double),
/// "NaN", "INF", "-INF".
std::string floatText(double value, DType type);
/// Number that a text spells, as Cast reads it: decimal or scientific notation, "NaN", "INF", "+INF", "-INF" in any
/// case; nullopt when it is none.
std::optional<double> textToDouble(std::string_view text);
std::optional<int64_t> textToInt(std::string_view text);

} // namespace qs
