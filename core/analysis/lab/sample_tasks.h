// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "core/analysis/tasks/box_forms.h"

#include <optional>

namespace qs {

/// Boxes of one sample in both models, in pixels of the input.
struct SampleBoxes {
    std::vector<Box> x, y;
    BoxMatches matches;
    double least = 0; ///< confidence from which on they count
};

/// The classes of the pixels of one sample in both models, row by row.
struct SampleMasks {
    size_t height = 0, width = 0;
    std::vector<int64_t> x, y;
};

/// What the first output with boxes or a mask says of one sample; `outputs` are all of it (sampleOutputs()). Nothing
/// where no output is such, or its values cannot be read.
std::optional<SampleBoxes> sampleBoxes(
    const ComparePair& pair, const std::vector<SampleOutput>& outputs, const PictureSize& picture);
std::optional<SampleMasks> sampleMasks(const ComparePair& pair, const std::vector<SampleOutput>& outputs);

} // namespace qs
