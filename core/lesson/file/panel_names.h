// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string_view>

namespace qs {

/// What the panels of the window are called, but for the lesson's own.
inline constexpr std::array<std::string_view, 28> kPanelNames { "graph", "graph-2", "outline", "tensors", "weights",
    "weight-lab", "inspector", "distribution", "values", "arithmetic", "channels", "error-map", "layer-chart",
    "findings", "outputs", "samples", "tokens", "caches", "matching", "difference", "elements", "files", "ladder",
    "saturation", "what-if", "runs", "advisor", "jobs" };

} // namespace qs
