// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// How the quantized model is computed; part of every result.
enum class ArithmeticProfile {
    Simulated, ///< the file as written: floats between DequantizeLinear and QuantizeLinear, exact integers in QLinear*
};

constexpr std::string_view profileName(ArithmeticProfile) { return "simulated"; }

} // namespace qs
