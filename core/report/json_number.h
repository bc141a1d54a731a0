// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

/// JSON has neither NaN nor infinity: these and what does not exist are null.
inline nlohmann::ordered_json jsonNumber(const Number& n)
{
    return n && std::isfinite(*n) ? nlohmann::ordered_json(*n) : nlohmann::ordered_json(nullptr);
}

} // namespace qs
