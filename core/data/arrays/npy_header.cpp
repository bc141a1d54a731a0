// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/npy_header.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace qs {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongestHeader = size_t(1) << 20;

Issue arrayIssue(std::string what, const std::string& file, const std::string& array, std::string remedy)
{
    Issue issue = badInput(std::move(what), file, std::move(remedy));
    issue.tensor = array;
    return issue;
}

/// Reads the Python literal `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
class HeaderReader {
public:
    explicit HeaderReader(std::string_view text)
        : m_text(text)
    {
    }

    std::string descr;
    bool plainDescr = false; ///< a string; structured types have a list
    std::optional<bool> fortranOrder;
    std::optional<Shape> shape;

    bool parse()
    {
        if (!take('{'))
            return false;
        while (!take('}')) {
            const auto key = text();
            if (!key || !take(':') || !value(*key))
                return false;
            take(',');
        }
        return shape && fortranOrder;
    }

private:
    void skipSpace()
    {
        while (m_at < m_text.size() && std::strchr(" \t\r\n", m_text[m_at]) != nullptr)
            ++m_at;
    }
    bool take(char c)
    {
        skipSpace();
        if (m_at >= m_text.size() || m_text[m_at] != c)
            return false;
        ++m_at;
        return true;
    }
    bool takeWord(std::string_view word)
    {
        skipSpace();
        if (m_text.substr(m_at, word.size()) != word)
            return false;
        m_at += word.size();
        return true;
    }
    std::optional<std::string> text()
    {
        skipSpace();
        if (m_at >= m_text.size() || (m_text[m_at] != '\'' && m_text[m_at] != '"'))
            return {};
        const size_t end = m_text.find(m_text[m_at], m_at + 1);
        if (end == std::string_view::npos)
            return {};
        std::string s(m_text.substr(m_at + 1, end - m_at - 1));
        m_at = end + 1;
        return s;
    }
    bool value(const std::string& key)
    {
        if (key == "fortran_order") {
            if (takeWord("True"))
                fortranOrder = true;
            else if (takeWord("False"))
                fortranOrder = false;
            return fortranOrder.has_value();
        }
        if (key == "shape")
            return sizes();
        if (key != "descr")
            return false;
        if (const auto s = text()) {
            descr = *s;
            plainDescr = true;
            return true;
        }
        return skipBrackets();
    }
    bool sizes()
    {
        if (!take('('))
            return false;
        Shape sizes;
        while (!take(')')) {
            skipSpace();
            int64_t size = 0;
            const char* end = m_text.data() + m_text.size();
            const auto [next, error] = std::from_chars(m_text.data() + m_at, end, size);
            if (error != std::errc() || size < 0)
                return false;
            m_at = static_cast<size_t>(next - m_text.data());
            takeWord("L");
            take(',');
            sizes.push_back(size);
        }
        shape = std::move(sizes);
        return true;
    }
    bool skipBrackets()
    {
        int depth = 0;
        do {
            skipSpace();
            if (m_at >= m_text.size())
                return false;
            if (m_text[m_at] == '\'' || m_text[m_at] == '"') {
                if (!text())
                    return false;
                continue;
            }
            depth += std::strchr("[(", m_text[m_at]) ? 1 : std::strchr("])", m_text[m_at]) ? -1 : 0;
            ++m_at;
        } while (depth > 0);
        return true;
    }

    std::string_view m_text;
    size_t m_at = 0;
};

DType dtypeOfKind(char kind, int bytes)
{
    struct Entry {
        char kind;
        int bytes;
        DType type;
    };
    static constexpr Entry kTypes[]
        = { { 'f', 4, DType::Float32 }, { 'f', 8, DType::Float64 }, { 'f', 2, DType::Float16 },
              { 'u', 1, DType::UInt8 }, { 'u', 2, DType::UInt16 }, { 'u', 4, DType::UInt32 }, { 'u', 8, DType::UInt64 },
              { 'i', 1, DType::Int8 }, { 'i', 2, DType::Int16 }, { 'i', 4, DType::Int32 }, { 'i', 8, DType::Int64 },
              { 'b', 1, DType::Bool }, { 'c', 8, DType::Complex64 }, { 'c', 16, DType::Complex128 } };
    for (const Entry& e : kTypes)
        if (e.kind == kind && e.bytes == bytes)
            return e.type;
    return DType::Undefined;
}

} // namespace

Result<size_t> npyHeaderBytes(std::span<const std::byte> prefix, const std::string& file, const std::string& array)
{
    if (prefix.size() < 10 || std::memcmp(prefix.data(), kMagic.data(), kMagic.size()) != 0)
        return arrayIssue("is no .npy array", file, array, "save it with numpy.save or numpy.savez");
    const auto byte = [&](size_t i) { return std::to_integer<size_t>(prefix[i]); };
    const size_t major = byte(6);
    if (major < 1 || major > 3 || (major > 1 && prefix.size() < kNpyPrefix))
        return arrayIssue("has version " + std::to_string(major) + " of the .npy format, which is unknown", file, array,
            "save it with numpy.save or numpy.savez");
    const size_t start = major == 1 ? 10 : 12;
    size_t length = byte(8) | byte(9) << 8;
    if (major > 1)
        length |= byte(10) << 16 | byte(11) << 24;
    if (length > kLongestHeader)
        return arrayIssue("has a header of " + std::to_string(length) + " bytes, which is not plausible", file, array,
            "save the array again");
    return start + length;
}

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string& file, const std::string& array)
{
    QS_TRY(const size_t total, npyHeaderBytes(bytes, file, array));
    const size_t start = std::to_integer<int>(bytes[6]) == 1 ? 10 : 12;
    if (bytes.size() < total)
        return arrayIssue("ends within its header", file, array, "save the array again");
    HeaderReader reader({ reinterpret_cast<const char*>(bytes.data()) + start, total - start });
    if (!reader.parse())
        return arrayIssue("has a header that cannot be understood", file, array, "save the array again");
    if (!reader.plainDescr || reader.descr.size() < 2)
        return arrayIssue("is a structured array", file, array, "save each field as an array of its own");
    std::string_view descr = reader.descr;
    const char order = std::strchr("<>|=", descr[0]) ? descr[0] : '=';
    if (descr[0] == order)
        descr.remove_prefix(1);
    int itemBytes = 0;
    if (descr.size() > 1)
        std::from_chars(descr.data() + 1, descr.data() + descr.size(), itemBytes);
    if (descr[0] == 'O')
        return arrayIssue("is an object array (a pickle), which is never read", file, array,
            "save a plain array of numbers, for instance with astype('float32')");
    NpyHeader header;
    header.dtype = dtypeOfKind(descr[0], itemBytes);
    if (header.dtype == DType::Undefined)
        return arrayIssue("has the element type '" + reader.descr + "', which is not supported", file, array,
            "save it as float32 or as the integer type of the input");
    constexpr bool kLittle = std::endian::native == std::endian::little;
    header.itemBytes = static_cast<size_t>(itemBytes);
    header.swapped = itemBytes > 1 && ((order == '>' && kLittle) || (order == '<' && !kLittle));
    header.fortranOrder = *reader.fortranOrder;
    header.shape = *std::move(reader.shape);
    header.dataOffset = total;
    const auto count = elementCount(header.shape);
    constexpr uint64_t kMost = uint64_t(1) << 60;
    if (!count || static_cast<uint64_t>(*count) > kMost / header.itemBytes)
        return arrayIssue("has the impossible shape " + shapeText(header.shape), file, array, "save the array again");
    header.storedBytes = total + static_cast<uint64_t>(*count) * header.itemBytes;
    return header;
}

} // namespace qs
