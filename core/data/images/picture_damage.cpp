// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/picture.h"

#include <array>
#include <cstdlib>

namespace qs {

namespace {

uint32_t byteAt(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

uint32_t bigEndian32(std::string_view b, size_t at)
{
    return byteAt(b, at) << 24 | byteAt(b, at + 1) << 16 | byteAt(b, at + 2) << 8 | byteAt(b, at + 3);
}

uint32_t littleEndian(std::string_view b, size_t at, size_t count)
{
    uint32_t value = 0;
    for (size_t i = count; i-- > 0;)
        value = value << 8 | byteAt(b, at + i);
    return value;
}

uint32_t crc32(std::string_view bytes)
{
    static const auto table = [] {
        std::array<uint32_t, 256> t {};
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t c = i;
            for (int k = 0; k < 8; ++k)
                c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
            t[i] = c;
        }
        return t;
    }();
    uint32_t c = 0xffffffffu;
    for (const char b : bytes)
        c = table[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
    return ~c;
}

std::string pngDamage(std::string_view bytes)
{
    for (size_t at = 8; at + 12 <= bytes.size();) {
        const size_t length = bigEndian32(bytes, at);
        if (length > bytes.size() - at - 12)
            return "it ends too early";
        const std::string_view typeAndData = bytes.substr(at + 4, length + 4);
        if (crc32(typeAndData) != bigEndian32(bytes, at + 8 + length))
            return "a checksum is wrong";
        if (typeAndData.starts_with("IEND"))
            return {};
        at += 12 + length;
    }
    return "it ends too early";
}

/// Walks the segments, so that the end marker of a thumbnail inside one is not taken for the file's own.
std::string jpegDamage(std::string_view bytes)
{
    size_t at = 2;
    bool inScan = false;
    while (at + 1 < bytes.size()) {
        if (byteAt(bytes, at) != 0xff) {
            ++at; // coded data, or padding between segments
            continue;
        }
        const uint32_t marker = byteAt(bytes, at + 1);
        const bool alone = marker == 0x00 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);
        if (marker == 0xd9)
            return inScan ? "" : "it holds no image data";
        if (marker == 0xff) {
            ++at;
            continue;
        }
        if (alone) {
            at += 2;
            continue;
        }
        if (at + 3 >= bytes.size())
            break;
        inScan |= marker == 0xda;
        at += 2 + (byteAt(bytes, at + 2) << 8 | byteAt(bytes, at + 3));
    }
    return "it ends too early";
}

std::string bmpDamage(std::string_view bytes)
{
    constexpr size_t kHeader = 54;
    if (bytes.size() < kHeader)
        return bytes.size() < 26 ? "it ends too early" : "";
    const uint64_t start = littleEndian(bytes, 10, 4);
    const auto width = static_cast<int32_t>(littleEndian(bytes, 18, 4));
    const auto height = static_cast<int32_t>(littleEndian(bytes, 22, 4));
    const bool oldHeader = littleEndian(bytes, 14, 4) < 40;
    const bool compressed = oldHeader || (littleEndian(bytes, 30, 4) != 0 && littleEndian(bytes, 30, 4) != 3);
    if (compressed)
        return {};
    const uint64_t bits = littleEndian(bytes, 28, 2);
    const uint64_t row = (static_cast<uint64_t>(std::abs(int64_t(width))) * bits + 31) / 32 * 4;
    const uint64_t needed = start + row * static_cast<uint64_t>(std::abs(int64_t(height)));
    return needed > bytes.size() ? "it ends too early" : "";
}

} // namespace

std::string pictureDamage(std::string_view bytes)
{
    if (bytes.starts_with("\x89PNG"))
        return pngDamage(bytes);
    if (bytes.starts_with("\xff\xd8"))
        return jpegDamage(bytes);
    return bytes.starts_with("BM") ? bmpDamage(bytes) : "";
}

} // namespace qs
