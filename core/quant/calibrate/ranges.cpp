// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/ranges.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<CalibrationMethod, std::string_view>, 6> kMethods { {
    { CalibrationMethod::MinMax, "minmax" },
    { CalibrationMethod::MovingAverage, "moving-average" },
    { CalibrationMethod::Percentile, "percentile" },
    { CalibrationMethod::Entropy, "entropy" },
    { CalibrationMethod::Mse, "mse" },
    { CalibrationMethod::Distribution, "distribution" },
} };

} // namespace

std::string_view calibrationMethodName(CalibrationMethod method)
{
    return kMethods[static_cast<size_t>(method)].second;
}

std::optional<CalibrationMethod> calibrationMethodOf(std::string_view name)
{
    for (const auto& [method, text] : kMethods)
        if (text == name)
            return method;
    return std::nullopt;
}

const TensorRange* Ranges::find(std::string_view name) const
{
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
}

} // namespace qs
