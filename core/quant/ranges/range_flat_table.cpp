// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/ranges/range_formats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

// The schema, namespace CalTableFlatBuffers: table KeyValue { key:string; value:string; } table TrtTable {
// dict:[KeyValue]; } root_type TrtTable. Two tables of strings need no library: a reader that checks every offset, and
// a writer with the layout of the format's usual builders.
namespace qs {

namespace {

/// Checked access to little-endian data.
class FlatReader {
public:
    explicit FlatReader(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    template <class T> std::optional<T> number(size_t at) const
    {
        T value;
        if (at > m_bytes.size() || m_bytes.size() - at < sizeof value)
            return std::nullopt;
        std::memcpy(&value, m_bytes.data() + at, sizeof value);
        return value;
    }
    /// Where the offset stored at `at` points.
    std::optional<size_t> target(size_t at) const
    {
        const auto offset = number<uint32_t>(at);
        if (!offset || *offset == 0 || *offset > m_bytes.size() - at)
            return std::nullopt;
        return at + *offset;
    }
    /// Where a table's field points; nothing when it is absent or damaged.
    std::optional<size_t> field(size_t table, size_t index) const
    {
        const auto back = number<int32_t>(table);
        const int64_t vtable = back ? static_cast<int64_t>(table) - *back : -1;
        if (vtable < 0)
            return std::nullopt;
        const auto size = number<uint16_t>(size_t(vtable));
        const size_t slot = 4 + 2 * index;
        if (!size || *size < slot + 2)
            return std::nullopt;
        const auto offset = number<uint16_t>(size_t(vtable) + slot);
        return offset && *offset ? target(table + *offset) : std::nullopt;
    }
    std::optional<std::string> text(size_t at) const
    {
        const auto size = number<uint32_t>(at);
        if (!size || *size > m_bytes.size() - at - 4)
            return std::nullopt;
        return std::string(m_bytes.substr(at + 4, *size));
    }
    size_t size() const { return m_bytes.size(); }

private:
    std::string_view m_bytes;
};

/// Builds from the end to the front, as the format's builders do: what is pointed to comes first.
class FlatWriter {
public:
    /// Distance from the end: what offsets are made of.
    uint32_t here() const { return static_cast<uint32_t>(m_reversed.size()); }
    void align(size_t size, size_t additional)
    {
        m_alignment = std::max(m_alignment, size);
        while ((m_reversed.size() + additional) % size)
            m_reversed += '\0';
    }
    template <class T> void prepend(T value)
    {
        align(sizeof value, 0);
        std::array<char, sizeof(T)> bytes;
        std::memcpy(bytes.data(), &value, sizeof value);
        m_reversed.append(bytes.rbegin(), bytes.rend());
    }
    void prependOffset(uint32_t to)
    {
        align(4, 0);
        prepend<uint32_t>(here() - to + 4);
    }
    uint32_t text(std::string_view value)
    {
        align(4, value.size() + 1);
        m_reversed += '\0';
        m_reversed.append(value.rbegin(), value.rend());
        prepend(static_cast<uint32_t>(value.size()));
        return here();
    }
    /// A table whose fields are all offsets.
    uint32_t table(const std::vector<uint32_t>& fields)
    {
        const uint32_t end = here();
        std::vector<uint32_t> places;
        for (const uint32_t field : fields) {
            prependOffset(field);
            places.push_back(here());
        }
        prepend<int32_t>(0);
        const uint32_t start = here();
        std::vector<uint16_t> vtable { static_cast<uint16_t>(2 * fields.size() + 4),
            static_cast<uint16_t>(start - end) };
        for (const uint32_t place : places)
            vtable.push_back(static_cast<uint16_t>(start - place));
        const auto known = std::ranges::find(m_vtables, vtable, &Vtable::content);
        uint32_t at = known == m_vtables.end() ? 0 : known->at;
        if (known == m_vtables.end()) {
            for (auto word = vtable.rbegin(); word != vtable.rend(); ++word)
                prepend(*word);
            at = here();
            m_vtables.push_back({ vtable, at });
        }
        const auto distance = static_cast<int32_t>(at) - static_cast<int32_t>(start);
        std::array<char, 4> bytes;
        std::memcpy(bytes.data(), &distance, sizeof distance);
        for (size_t i = 0; i < bytes.size(); ++i)
            m_reversed[start - 1 - i] = bytes[i];
        return start;
    }
    std::string finish(uint32_t root)
    {
        align(m_alignment, 4);
        prependOffset(root);
        return { m_reversed.rbegin(), m_reversed.rend() };
    }

private:
    struct Vtable {
        std::vector<uint16_t> content;
        uint32_t at;
    };
    std::string m_reversed;
    std::vector<Vtable> m_vtables; ///< equal ones are shared
    size_t m_alignment = 1;
};

constexpr size_t kDict = 0, kKey = 0, kValue = 1; ///< fields

std::optional<size_t> dictOf(const FlatReader& reader)
{
    const auto root = reader.target(0);
    return root ? reader.field(*root, kDict) : std::nullopt;
}

} // namespace

Result<TextPairs> readFlatTable(std::string_view bytes, const std::string& path)
{
    const FlatReader reader(bytes);
    const auto damaged
        = badInput("is no calibration table, or a damaged one", path, "write it again with ONNX Runtime or Quantscope");
    const auto dict = dictOf(reader);
    const auto count = dict ? reader.number<uint32_t>(*dict) : std::nullopt;
    if (!count || *count > reader.size() / 4)
        return damaged;
    TextPairs pairs;
    size_t left = reader.size(); // for texts: entries that share one would take more memory than the file
    for (uint32_t i = 0; i < *count; ++i) {
        const auto entry = reader.target(*dict + 4 + size_t(i) * 4);
        const auto key = entry ? reader.field(*entry, kKey) : std::nullopt;
        const auto value = entry ? reader.field(*entry, kValue) : std::nullopt;
        const auto keyText = key ? reader.text(*key) : std::nullopt;
        const auto valueText = value ? reader.text(*value) : std::nullopt;
        if (!keyText || !valueText || keyText->size() + valueText->size() > left)
            return damaged;
        left -= keyText->size() + valueText->size();
        pairs.emplace_back(*keyText, *valueText);
    }
    return pairs;
}

std::string writeFlatTable(const TextPairs& pairs)
{
    FlatWriter writer;
    std::vector<uint32_t> entries;
    for (const auto& [key, value] : pairs) {
        const uint32_t keyAt = writer.text(key), valueAt = writer.text(value);
        entries.push_back(writer.table({ keyAt, valueAt }));
    }
    writer.align(4, 4 * entries.size());
    for (const uint32_t entry : entries)
        writer.prependOffset(entry);
    writer.prepend(static_cast<uint32_t>(entries.size()));
    const uint32_t root = writer.table({ writer.here() });
    return writer.finish(root);
}

} // namespace qs
