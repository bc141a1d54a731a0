// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/text_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace qs {

namespace {

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-')
        text.remove_prefix(1);
    return text;
}

} // namespace

std::string floatText(double value, DType type)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "INF" : "-INF";
    std::array<char, 64> buffer;
    char* const end = buffer.data() + buffer.size();
    const auto result = type == DType::Float64 ? std::to_chars(buffer.data(), end, value)
                                               : std::to_chars(buffer.data(), end, static_cast<float>(value));
    return { buffer.data(), result.ptr };
}

std::optional<double> textToDouble(std::string_view text)
{
    text = trimmed(text);
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc::result_out_of_range && result.ptr == text.data() + text.size()) {
        const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
        const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
        return text.front() == '-' ? -magnitude : magnitude;
    }
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<int64_t> textToInt(std::string_view text)
{
    text = trimmed(text);
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace qs
