// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/onnx/files/wire_scanner.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

/// What is newer than the installed ONNX classes, read from their unknown fields, and text made safe to show.
namespace qs {

/// Index of the tensor's payload in StrippedMessage::payloads; nullopt when it has no raw_data.
std::optional<size_t> payloadIndex(const onnx::TensorProto& tensor);
/// Indices of the node's notes there.
std::vector<size_t> noteIndices(const onnx::NodeProto& node);
/// NodeProto.overload and FunctionProto.overload (IR version 10).
std::string overloadOf(const onnx::NodeProto& node);
std::string overloadOf(const onnx::FunctionProto& function);
/// FunctionProto.attribute_proto (IR version 9): attributes with defaults. Malformed ones are left out.
std::vector<onnx::AttributeProto> attributeDefaults(const onnx::FunctionProto& function);
/// FunctionProto.value_info (IR version 10).
std::vector<onnx::ValueInfoProto> valueInfos(const onnx::FunctionProto& function);

/// Contents of all fields of that number that the installed classes do not know.
std::vector<std::string> unknownTexts(const google::protobuf::UnknownFieldSet& fields, int number);
/// ValueInfoProto.metadata_props (IR version 10).
inline constexpr int kValueMetadata = 4;

/// Parses a stripped message; false when protobuf does not accept it. Nothing is logged.
bool parseStripped(const StrippedMessage& stripped, google::protobuf::Message& message);

/// The text with bytes that are no UTF-8 written as "\xNN"; every name of the graph goes through it.
std::string safeText(const std::string& text);
/// "" for "ai.onnx", which are one domain.
std::string safeDomain(const std::string& domain);

} // namespace qs
