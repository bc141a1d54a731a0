// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/notes_reader.h"

#include <charconv>
#include <optional>

namespace qs {

namespace {

/// The length-delimited fields of a message, one after the other, until its end or damage.
class Fields {
public:
    explicit Fields(std::string_view bytes)
        : m_rest(bytes)
    {
    }
    struct Field {
        uint64_t number = 0;
        std::string_view content;
    };
    std::optional<Field> next()
    {
        const auto tag = varint();
        const auto length = tag ? varint() : std::nullopt;
        constexpr uint64_t kWireType = 7, kLengthDelimited = 2;
        if (!length || (*tag & kWireType) != kLengthDelimited || *length > m_rest.size())
            return std::nullopt;
        const Field field { *tag >> 3, m_rest.substr(0, size_t(*length)) };
        m_rest.remove_prefix(size_t(*length));
        return field;
    }

private:
    std::optional<uint64_t> varint()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_rest.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_rest.front());
            m_rest.remove_prefix(1);
            value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
        }
        return std::nullopt;
    }
    std::string_view m_rest;
};

/// A StringStringEntryProto.
std::pair<std::string_view, std::string_view> entryOf(std::string_view bytes)
{
    std::pair<std::string_view, std::string_view> entry;
    Fields fields(bytes);
    while (const auto field = fields.next()) {
        if (field->number == 1)
            entry.first = field->content;
        else if (field->number == 2)
            entry.second = field->content;
    }
    return entry;
}

/// Of a value's entries, which the installed ONNX classes do not know; the texts belong to the result.
std::shared_ptr<const Metadata> valueMetadata(const onnx::ValueInfoProto& proto)
{
    auto texts = std::make_shared<std::vector<std::string>>(unknownTexts(proto.unknown_fields(), kValueMetadata));
    if (texts->empty())
        return nullptr;
    auto metadata = std::make_shared<Metadata>();
    for (const std::string& text : *texts)
        metadata->entries.push_back(entryOf(text));
    metadata->owner = std::move(texts);
    return metadata;
}

ExternalPlace placeOf(const onnx::TensorProto& proto)
{
    ExternalPlace place;
    for (const auto& entry : proto.external_data()) {
        const auto number = [&](uint64_t& to) {
            const std::string& text = entry.value();
            std::from_chars(text.data(), text.data() + text.size(), to);
        };
        if (entry.key() == "location")
            place.file = safeText(entry.value());
        else if (entry.key() == "offset")
            number(place.offset);
        else if (entry.key() == "length")
            number(place.length);
    }
    return place;
}

} // namespace

NotesReader::NotesReader(const TensorReader& tensors)
    : m_bytes(tensors.file())
    , m_places(tensors.payloads())
{
    size_t total = 0;
    for (const Payload& place : m_places)
        total += place.isNote ? place.length : 0;
    if (total > kMostCopied)
        return;
    auto copy = std::make_shared<std::vector<std::byte>>();
    copy->reserve(total);
    for (Payload& place : m_places) {
        const auto bytes = m_bytes.bytes.subspan(place.offset, place.isNote ? place.length : 0);
        place = { copy->size(), bytes.size(), place.isNote };
        copy->insert(copy->end(), bytes.begin(), bytes.end());
    }
    m_bytes = { *copy, copy };
}

std::shared_ptr<const Metadata> NotesReader::of(const onnx::NodeProto& proto) const
{
    const std::vector<size_t> indices = noteIndices(proto);
    if (indices.empty())
        return nullptr;
    auto metadata = std::make_shared<Metadata>();
    metadata->owner = m_bytes.owner;
    for (const size_t index : indices) {
        if (index >= m_places.size())
            continue;
        const auto bytes = m_bytes.bytes.subspan(m_places[index].offset, m_places[index].length);
        Fields fields({ reinterpret_cast<const char*>(bytes.data()), bytes.size() });
        while (const auto field = fields.next()) {
            if (field->number == kNodeDocString)
                metadata->docString = field->content;
            else if (field->number == kNodeMetadata)
                metadata->entries.push_back(entryOf(field->content));
        }
    }
    metadata->entries.shrink_to_fit();
    return metadata;
}

std::shared_ptr<const ValueNotes> valueNotesOf(const onnx::GraphProto& proto, const Scope& scope)
{
    auto notes = std::make_shared<ValueNotes>();
    for (const auto& tensor : proto.initializer())
        if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
            notes->external.try_emplace(scope.resolve(tensor.name()), placeOf(tensor));
    for (const auto* list : { &proto.input(), &proto.value_info(), &proto.output() })
        for (const auto& info : *list)
            if (auto metadata = valueMetadata(info))
                notes->metadata.try_emplace(scope.resolve(info.name()), std::move(metadata));
    return notes->external.empty() && notes->metadata.empty() ? nullptr : notes;
}

} // namespace qs
