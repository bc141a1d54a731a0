// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/sample_tasks.h"
#include "core/analysis/tasks/token_inputs.h"
#include "core/data/class_names.h"
#include "widgets/session/shown/theme.h"

#include <QImage>

#include <utility>
#include <vector>

namespace qs {

/// What the outputs' task says of the chosen sample.
struct SampleTask {
    TaskKind kind = TaskKind::Values; ///< of the output that samples are told by
    size_t output = 0; ///< its index
    ScoredToken scored = ScoredToken::None; ///< of sequences: which token is chosen at a position
    bool named = false; ///< of classes: the output's whole numbers are the classes, the best one first
    std::optional<SampleBoxes> boxes;
    std::optional<SampleMasks> masks;
    PictureSize picture; ///< of the input, in its pixels
};

/// The picture with the boxes of both models: those of the float model dashed, those of the quantized one solid, with
/// the class of those that have no counterpart.
QImage withBoxes(const QImage& picture, const SampleBoxes& boxes, const PictureSize& size, const Theme& theme,
    const ClassNames& names);
/// The picture in grey with the pixels whose class differs: striped where the quantized model has the background
/// (class 0) in place of a class, filled elsewhere.
QImage withMask(const QImage& picture, const SampleMasks& masks, const Theme& theme);

/// Which of so many boxes have a counterpart: the first of each pair, or the second.
std::vector<bool> matchedOf(const std::vector<std::pair<size_t, size_t>>& pairs, size_t count, bool second);

} // namespace qs
