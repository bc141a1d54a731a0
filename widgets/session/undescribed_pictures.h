// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/inputs.h"

#include <optional>

namespace qs {

/// A folder of pictures of which nobody has said how they become tensors.
struct UndescribedPictures {
    DataRequest request;
    bool calibration = false; ///< to find ranges with; else to judge by
};

/// Takes the first such folder out of the inputs, so that the rest can be opened; `open` stays in its place. Nothing
/// without one, and without a model whose input would say what fits.
std::optional<UndescribedPictures> takeUndescribed(Inputs& inputs, const Inputs& open);

} // namespace qs
