// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/data/images/resample.h"
#include "core/tensor/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

enum class ResizeMode { Stretch, ShortSide, Letterbox };
enum class CropPlace { Centre, TopLeft };
/// Pixels that are no whole ones when the short side is scaled and cut: the other side rounded and the cut's offset cut
/// off, or as torchvision's Resize and CenterCrop: the other side cut off, halves of the offset to the even pixel.
enum class PixelRounding { Nearest, Torchvision };
enum class ColorOrder { Rgb, Bgr, Gray };

/// How a picture becomes a tensor: upright or as it lies, colour, resize and crop, then (pixel * scale - mean) / std
/// for each channel.
struct Preprocess {
    int width = 0; ///< "size"; 0 = not given, take the input's
    int height = 0;
    ResizeMode resize = ResizeMode::Stretch;
    std::optional<int> shortSide; ///< when not given, the larger of width and height divided by cropShare
    double cropShare = 1; ///< part of the short side that the crop keeps: 0.875 scales to 256 and takes 224
    PixelRounding rounding = PixelRounding::Nearest; ///< of the scaled side and of the cut in the middle
    Interpolation interpolation = Interpolation::Bilinear;
    CropPlace crop = CropPlace::Centre;
    double padValue = 0; ///< in pixel units
    ColorOrder color = ColorOrder::Rgb;
    double scale = 1;
    std::vector<double> mean; ///< one a channel
    std::vector<double> deviation; ///< "std"
    bool exif = false; ///< turned upright as the file's EXIF says
    bool channelsFirst = true; ///< layout nchw
    DType dtype = DType::Float32; ///< or UInt8, which skips the arithmetic

    int channels() const { return color == ColorOrder::Gray ? 1 : 3; }
    /// Of one picture, without the batch axis.
    Shape itemShape() const;
};

/// Reads the JSON file; unknown keys and values that make no sense are Issues naming the file and the key.
Result<Preprocess> readPreprocess(const std::string& path);
/// The file that readPreprocess reads the same from; a size that is not given is left out.
std::string preprocessJson(const Preprocess& how);
/// Writes one picture, `itemShape()` elements of `dtype`, to `out`. An Issue (without a file) when it cannot be cut.
Status applyPreprocess(const Preprocess& how, Picture picture, std::byte* out);

} // namespace qs
