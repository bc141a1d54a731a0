// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/value_notes.h"
#include "core/onnx/read/scope.h"
#include "core/onnx/read/tensor_reader.h"

namespace qs {

/// What the file says of the node beside what it computes, as it lies in the file; null where it says nothing. Entries
/// that are damaged are left out.
std::shared_ptr<const Metadata> metadataOf(const onnx::NodeProto& proto, const TensorReader& tensors);

/// Of the values of a graph, called as in the graph that is built; null where the file says nothing.
std::shared_ptr<const ValueNotes> valueNotesOf(const onnx::GraphProto& proto, const Scope& scope);

} // namespace qs
