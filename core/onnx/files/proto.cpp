// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/proto.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <climits>
#include <cstdio>

namespace qs {

namespace {

constexpr int kNodeOverload = 8;
constexpr int kFunctionAttributeProto = 11;
constexpr int kFunctionValueInfo = 12;
constexpr int kFunctionOverload = 13;

std::string unknownText(const google::protobuf::Message& message, int number)
{
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    std::string text;
    for (int i = 0; i < fields.field_count(); ++i)
        if (const auto& f = fields.field(i);
            f.number() == number && f.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            text = f.length_delimited();
    return text;
}

template <class Message> std::vector<Message> unknownMessages(const google::protobuf::Message& message, int number)
{
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    std::vector<Message> found;
    for (int i = 0; i < fields.field_count(); ++i) {
        const auto& f = fields.field(i);
        if (f.number() != number || f.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            continue;
        Message item;
        if (item.ParseFromString(f.length_delimited()))
            found.push_back(std::move(item));
    }
    return found;
}

/// Length of the valid UTF-8 sequence at `i`, 0 when there is none.
size_t utf8Length(const std::string& text, size_t i)
{
    const auto at = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned lead = at(i);
    if (lead < 0x80)
        return 1;
    const size_t length = lead >= 0xc2 && lead <= 0xdf ? 2
        : (lead & 0xf0) == 0xe0                        ? 3
        : lead >= 0xf0 && lead <= 0xf4                 ? 4
                                                       : 0;
    for (size_t k = 1; k < length; ++k)
        if ((at(i + k) & 0xc0) != 0x80)
            return 0;
    const unsigned second = at(i + 1);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool outside = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
    return overlong || outside ? 0 : length;
}

} // namespace

std::optional<size_t> payloadIndex(const onnx::TensorProto& tensor)
{
    const auto& fields = tensor.unknown_fields();
    std::optional<size_t> index;
    for (int i = 0; i < fields.field_count(); ++i)
        if (const auto& f = fields.field(i);
            f.number() == int(kPayloadField) && f.type() == google::protobuf::UnknownField::TYPE_VARINT)
            index = static_cast<size_t>(f.varint());
    return index;
}

std::string overloadOf(const onnx::NodeProto& node) { return unknownText(node, kNodeOverload); }
std::string overloadOf(const onnx::FunctionProto& function) { return unknownText(function, kFunctionOverload); }

std::vector<onnx::AttributeProto> attributeDefaults(const onnx::FunctionProto& function)
{
    return unknownMessages<onnx::AttributeProto>(function, kFunctionAttributeProto);
}

std::vector<onnx::ValueInfoProto> valueInfos(const onnx::FunctionProto& function)
{
    return unknownMessages<onnx::ValueInfoProto>(function, kFunctionValueInfo);
}

bool parseStripped(const StrippedMessage& stripped, google::protobuf::Message& message)
{
    // Protobuf writes its complaints to stderr unless told otherwise; ours are issues.
    [[maybe_unused]] static const auto silenced = google::protobuf::SetLogHandler(nullptr);
    return stripped.bytes.size() <= INT_MAX
        && message.ParseFromArray(stripped.bytes.data(), static_cast<int>(stripped.bytes.size()));
}

std::string safeText(const std::string& text)
{
    std::string safe;
    for (size_t i = 0; i < text.size();) {
        const size_t length = utf8Length(text, i);
        if (length > 0) {
            safe.append(text, i, length);
            i += length;
            continue;
        }
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[i])));
        safe += escaped;
        ++i;
    }
    return safe;
}

std::string safeDomain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : safeText(domain); }

} // namespace qs
