// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/data/images/preprocess.h"

#include <span>
#include <string_view>

/// Ways to prepare pictures that many networks share, and what a model's input says about its own.
namespace qs {

struct PicturePreset {
    std::string_view name; ///< "preset" in the preprocessing file
    std::string_view title, explanation; ///< English; the window translates them
};
/// imagenet, unit, symmetric, bgr, caffe, yolo.
std::span<const PicturePreset> picturePresets();
/// Without a size, channels first; an unknown name gives the default of all fields.
Preprocess presetPreprocess(std::string_view name);
/// The name of the preset with this arithmetic, colour and way of resizing; "" where there is none.
std::string_view presetOf(const Preprocess& how);

/// The same arithmetic for other channels: numbers change places between rgb and bgr, grey gets their mean.
Preprocess withColor(Preprocess how, ColorOrder color);

/// What a model's input says: layout, channels, size and type as far as they are fixed. Nothing is said by an input
/// that takes no picture.
struct PictureForm {
    bool channelsFirst = true;
    int channels = 3; ///< 1 or 3
    int width = 0, height = 0; ///< 0 = not fixed
    DType dtype = DType::Float32; ///< or UInt8
};
std::optional<PictureForm> pictureForm(const InputSpec& input);
/// Layout, size, type and channels as the input wants them; a size that it leaves open stays as it is.
Preprocess fitted(Preprocess how, const PictureForm& form);

} // namespace qs
