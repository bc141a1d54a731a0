// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/proto.h"

#include "core/base/text/utf8.h"

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

std::string unknownText(const google::protobuf::UnknownFieldSet& fields, int number)
{
    std::vector<std::string> texts = unknownTexts(fields, number);
    return texts.empty() ? std::string() : std::move(texts.back());
}

template <class Message>
std::vector<Message> unknownMessages(const google::protobuf::UnknownFieldSet& fields, int number)
{
    std::vector<Message> found;
    for (const std::string& text : unknownTexts(fields, number))
        if (Message item; item.ParseFromString(text))
            found.push_back(std::move(item));
    return found;
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

std::vector<size_t> noteIndices(const onnx::NodeProto& node)
{
    const auto& fields = node.unknown_fields();
    std::vector<size_t> indices;
    for (int i = 0; i < fields.field_count(); ++i)
        if (const auto& f = fields.field(i);
            f.number() == int(kPayloadField) && f.type() == google::protobuf::UnknownField::TYPE_VARINT)
            indices.push_back(static_cast<size_t>(f.varint()));
    return indices;
}

std::string overloadOf(const onnx::NodeProto& node) { return unknownText(node.unknown_fields(), kNodeOverload); }
std::string overloadOf(const onnx::FunctionProto& function)
{
    return unknownText(function.unknown_fields(), kFunctionOverload);
}

std::vector<onnx::AttributeProto> attributeDefaults(const onnx::FunctionProto& function)
{
    return unknownMessages<onnx::AttributeProto>(function.unknown_fields(), kFunctionAttributeProto);
}

std::vector<onnx::ValueInfoProto> valueInfos(const onnx::FunctionProto& function)
{
    return unknownMessages<onnx::ValueInfoProto>(function.unknown_fields(), kFunctionValueInfo);
}

std::vector<std::string> unknownTexts(const google::protobuf::UnknownFieldSet& fields, int number)
{
    std::vector<std::string> found;
    for (int i = 0; i < fields.field_count(); ++i)
        if (const auto& f = fields.field(i);
            f.number() == number && f.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            found.push_back(f.length_delimited());
    return found;
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
    forEachCharacter(text, [&](const Utf8Character& c) {
        if (c.valid) {
            safe += c.bytes;
            return;
        }
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02X", unsigned(static_cast<unsigned char>(c.bytes[0])));
        safe += escaped;
    });
    return safe;
}

std::string safeDomain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : safeText(domain); }

} // namespace qs
