// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/value_notes.h"
#include "core/onnx/read/scope.h"
#include "core/onnx/read/tensor_reader.h"

namespace qs {

/// What a file says of its nodes beside what they compute. Of a usual model it is copied as a whole, so that it stays
/// what it was when somebody writes the file anew; of a large one it is read where it lies in the mapped file.
class NotesReader {
public:
    static constexpr size_t kMostCopied = size_t(16) << 20; ///< bytes
    explicit NotesReader(const TensorReader& tensors);
    /// Null where the file says nothing of the node. Entries that are damaged are left out.
    std::shared_ptr<const Metadata> of(const onnx::NodeProto& proto) const;

private:
    SharedBytes m_bytes;
    std::vector<Payload> m_places; ///< in `m_bytes`, by the index that a node has
};

/// Of the values of a graph, called as in the graph that is built; null where the file says nothing.
std::shared_ptr<const ValueNotes> valueNotesOf(const onnx::GraphProto& proto, const Scope& scope);

} // namespace qs
