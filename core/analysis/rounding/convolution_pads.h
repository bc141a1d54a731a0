// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// What a convolution pads with zeros by itself, and what a Pad before it does: begins of the axes of an image, then
/// ends.
struct ConvolutionPads {
    std::vector<int64_t> own, before; ///< of one length
    std::string pad; ///< that Pad's name; empty without one

    std::vector<int64_t> all() const;
    std::string text() const; ///< "[0, 0, 0, 0] behind Pad 'p' of [1, 1, 1, 1]"
};

/// Of a convolution, on codes or not, that says what it pads. Quantizers may stand between it and the Pad.
std::optional<ConvolutionPads> convolutionPads(const Plan& plan, NodeId node);

} // namespace qs
