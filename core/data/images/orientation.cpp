// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/orientation.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace qs {

namespace {

constexpr std::string_view kExif("Exif\0\0", 6);
constexpr uint32_t kOrientationTag = 0x0112, kShort = 3, kLong = 4;
constexpr size_t kEntryBytes = 12;

/// Numbers of a TIFF file; nothing beyond its end.
class TiffBytes {
public:
    explicit TiffBytes(std::string_view bytes)
        : m_bytes(bytes)
        , m_bigEndian(bytes.starts_with("MM"))
    {
    }

    bool valid() const { return (m_bigEndian || m_bytes.starts_with("II")) && at(2, 2) == 42; }

    std::optional<uint32_t> at(size_t offset, size_t count) const
    {
        if (offset > m_bytes.size() || count > m_bytes.size() - offset)
            return std::nullopt;
        uint32_t value = 0;
        for (size_t i = 0; i < count; ++i)
            value = value << 8 | static_cast<unsigned char>(m_bytes[offset + (m_bigEndian ? i : count - 1 - i)]);
        return value;
    }

private:
    std::string_view m_bytes;
    bool m_bigEndian;
};

/// Of the first directory, which describes the picture itself; those that it leads to are not read.
int tiffOrientation(const TiffBytes& tiff)
{
    const auto directory = tiff.valid() ? tiff.at(4, 4) : std::nullopt;
    const auto entries = directory ? tiff.at(*directory, 2) : std::nullopt;
    for (size_t i = 0; entries && i < *entries; ++i) {
        const size_t entry = size_t(*directory) + 2 + i * kEntryBytes;
        const auto tag = tiff.at(entry, 2), type = tiff.at(entry + 2, 2), count = tiff.at(entry + 4, 4);
        if (!tag || !type || !count)
            break;
        if (*tag != kOrientationTag)
            continue;
        const bool number = *count == 1 && (type == kShort || type == kLong);
        const auto value = number ? tiff.at(entry + 8, type == kShort ? 2 : 4) : std::nullopt;
        return value && *value >= 1 && *value <= 8 ? int(*value) : 1;
    }
    return 1;
}

} // namespace

int exifOrientation(std::string_view bytes)
{
    if (!bytes.starts_with("\xff\xd8"))
        return 1;
    const auto byteAt = [bytes](size_t at) { return size_t(static_cast<unsigned char>(bytes[at])); };
    for (size_t at = 2; at + 4 <= bytes.size() && byteAt(at) == 0xff;) {
        const size_t marker = byteAt(at + 1), length = byteAt(at + 2) << 8 | byteAt(at + 3);
        if (marker == 0xff) { // padding
            ++at;
            continue;
        }
        const bool pixels = marker == 0xda || marker == 0xd9;
        if (pixels || length < 2 || length > bytes.size() - at - 2)
            break;
        const std::string_view content = bytes.substr(at + 4, length - 2);
        if (marker == 0xe1 && content.starts_with(kExif))
            return tiffOrientation(TiffBytes(content.substr(kExif.size())));
        at += 2 + length;
    }
    return 1;
}

} // namespace qs
