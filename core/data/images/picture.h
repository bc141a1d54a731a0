// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// 8-bit pixels, row by row, channels interleaved (1 = grey, 3 = RGB).
struct Picture {
    int width = 0;
    int height = 0;
    int channels = 0;
    std::vector<uint8_t> pixels;
};

/// png, jpg, jpeg, bmp in any case.
bool isPictureName(std::string_view name);
/// Decodes a file; alpha is dropped, EXIF orientation is not applied. Damaged, truncated and huge files are Issues.
Result<Picture> loadPicture(const std::string& path);
/// What is wrong with the bytes of a PNG, JPEG or BMP file (checksums, end marker, length), "" when they look whole.
/// Decoders fill the missing part of a damaged file with grey instead of failing.
std::string pictureDamage(std::string_view bytes);

Picture toRgb(Picture picture);
/// ITU-R 601 luma, rounded.
Picture toGray(Picture picture);

} // namespace qs
