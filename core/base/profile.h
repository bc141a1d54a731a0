// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace qs {

/// How the quantized model is computed; part of every result.
enum class ArithmeticProfile {
    Simulated, ///< the file as written: floats between DequantizeLinear and QuantizeLinear, exact integers in QLinear*
    Integer, ///< what ONNX Runtime's default optimizations make of it on x64: Q/DQ units run as integer kernels
    IntegerAvx2, ///< the same with the 16-bit pair sums of AVX2 without VNNI, which saturate
};

inline constexpr std::array<std::string_view, 3> kProfileNames { "simulated", "integer", "integer-avx2" };

constexpr std::string_view profileName(ArithmeticProfile profile)
{
    return kProfileNames[static_cast<size_t>(profile)];
}

/// nullopt when there is no profile of that name.
constexpr std::optional<ArithmeticProfile> profileOfName(std::string_view name)
{
    for (size_t i = 0; i < kProfileNames.size(); ++i)
        if (kProfileNames[i] == name)
            return static_cast<ArithmeticProfile>(i);
    return std::nullopt;
}

} // namespace qs
