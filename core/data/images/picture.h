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
    int orientation = 1; ///< as EXIF counts it: 1 stands upright, up to 8 (upright() turns it)
};

/// png, jpg, jpeg, bmp in any case.
bool isPictureName(std::string_view name);
/// Decodes a file; alpha is dropped, the pixels stay as the file has them. Damaged, truncated and huge files are
/// Issues.
Result<Picture> loadPicture(const std::string& path);
/// What is wrong with the bytes of a PNG, JPEG or BMP file (checksums, end marker, length), "" when they look whole.
/// Decoders fill the missing part of a damaged file with grey instead of failing.
std::string pictureDamage(std::string_view bytes);

/// Turned and mirrored so that it stands upright, and has the orientation 1.
Picture upright(Picture picture);
Picture toRgb(Picture picture);
/// ITU-R 601 luma, rounded.
Picture toGray(Picture picture);

} // namespace qs
