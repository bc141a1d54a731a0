// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/picture.h"

#include "core/base/text/lower_case.h"
#include "core/data/arrays/byte_source.h"
#include "core/data/images/orientation.h"

#include <algorithm>
#include <cctype>
#include <memory>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace qs {

namespace {

constexpr uint64_t kLargestFile = uint64_t(1) << 30;
constexpr int64_t kMostPixels = int64_t(1) << 28;

struct FreePixels {
    void operator()(stbi_uc* p) const { stbi_image_free(p); }
};

/// Only the first `kept` of `from` interleaved channels.
std::vector<uint8_t> withoutAlpha(const stbi_uc* pixels, size_t count, size_t from, size_t kept)
{
    std::vector<uint8_t> out(count * kept);
    for (size_t i = 0; i < count; ++i)
        for (size_t c = 0; c < kept; ++c)
            out[i * kept + c] = pixels[i * from + c];
    return out;
}

} // namespace

bool isPictureName(std::string_view name)
{
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return false;
    const std::string ending = lowerCase(std::string(name.substr(dot + 1)));
    return ending == "png" || ending == "jpg" || ending == "jpeg" || ending == "bmp";
}

Result<Picture> loadPicture(const std::string& path)
{
    const char* remedy = "replace the picture or take it out of the folder";
    QS_TRY(const std::string bytes, readSmallFile(path, kLargestFile));
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const int size = static_cast<int>(bytes.size());
    int width = 0;
    int height = 0;
    int channels = 0;
    if (!stbi_info_from_memory(data, size, &width, &height, &channels))
        return badInput("is no picture that can be read (png, jpg, bmp)", path, remedy);
    if (int64_t(width) * height > kMostPixels)
        return badInput("is too large a picture (" + std::to_string(width) + "x" + std::to_string(height) + ")", path,
            "shrink it before");
    if (const std::string damage = pictureDamage(bytes); !damage.empty())
        return badInput("is a damaged picture (" + damage + ")", path, remedy);
    const std::unique_ptr<stbi_uc, FreePixels> pixels(stbi_load_from_memory(data, size, &width, &height, &channels, 0));
    if (!pixels)
        return badInput(std::string("is a damaged picture (") + stbi_failure_reason() + ")", path, remedy);
    Picture picture { width, height, channels <= 2 ? 1 : 3, {} };
    const size_t count = static_cast<size_t>(width) * static_cast<size_t>(height);
    picture.pixels
        = withoutAlpha(pixels.get(), count, static_cast<size_t>(channels), static_cast<size_t>(picture.channels));
    picture.orientation = exifOrientation(bytes);
    return picture;
}

Picture upright(Picture picture)
{
    const int o = picture.orientation;
    if (o < 2 || o > 8)
        return picture;
    const bool swapped = o >= 5; // rows become columns
    const bool fromRight = o == 2 || o == 3 || o == 7 || o == 8, fromBelow = o == 3 || o == 4 || o == 6 || o == 7;
    Picture turned { swapped ? picture.height : picture.width, swapped ? picture.width : picture.height,
        picture.channels, {} };
    turned.pixels.resize(picture.pixels.size());
    const auto channels = static_cast<size_t>(picture.channels);
    uint8_t* to = turned.pixels.data();
    for (int y = 0; y < turned.height; ++y)
        for (int x = 0; x < turned.width; ++x, to += channels) {
            const int across = swapped ? y : x, down = swapped ? x : y;
            const auto column = static_cast<size_t>(fromRight ? picture.width - 1 - across : across);
            const auto row = static_cast<size_t>(fromBelow ? picture.height - 1 - down : down);
            const size_t from = (row * static_cast<size_t>(picture.width) + column) * channels;
            std::copy_n(picture.pixels.data() + from, channels, to);
        }
    return turned;
}

Picture toRgb(Picture picture)
{
    if (picture.channels == 3)
        return picture;
    Picture rgb { picture.width, picture.height, 3, {} };
    rgb.pixels.reserve(picture.pixels.size() * 3);
    for (const uint8_t v : picture.pixels)
        rgb.pixels.insert(rgb.pixels.end(), 3, v);
    return rgb;
}

Picture toGray(Picture picture)
{
    if (picture.channels == 1)
        return picture;
    // 0.299, 0.587 and 0.114 in 1/65536, adding up to one.
    constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 1u << 15;
    Picture gray { picture.width, picture.height, 1, std::vector<uint8_t>(picture.pixels.size() / 3) };
    for (size_t i = 0; i < gray.pixels.size(); ++i) {
        const uint8_t* p = &picture.pixels[i * 3];
        gray.pixels[i] = static_cast<uint8_t>((p[0] * kRed + p[1] * kGreen + p[2] * kBlue + kHalf) >> 16);
    }
    return gray;
}

} // namespace qs
