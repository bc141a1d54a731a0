// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/onnx/files/proto.h"

namespace qs {

/// Gives the proto these sizes and elements; what else it says (documentation, unknown fields) stays.
void writeTensor(onnx::TensorProto& proto, const std::string& name, const Tensor& tensor);
/// The same without elements, for those that go elsewhere.
void writeTensorHeader(onnx::TensorProto& proto, const std::string& name, const Tensor& tensor);
/// Enough is known of the type to write it: a tensor's element type, or that of a sequence's elements.
bool canWrite(const ValueType& type);
void writeType(onnx::TypeProto& proto, const ValueType& type);
/// Documentation and entries of a node that has none.
void writeMetadata(onnx::NodeProto& proto, const Metadata& metadata);
/// Issue: an attribute of a kind that is only carried, not understood.
Status writeAttributes(onnx::NodeProto& proto, const Attributes& attributes, const std::string& node);
/// A whole graph (a subgraph).
Status writeGraph(onnx::GraphProto& proto, const Graph& graph);

} // namespace qs
