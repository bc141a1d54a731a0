// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/onnx/files/external_data.h"
#include "core/onnx/files/proto.h"
#include "core/onnx/read/reading_budget.h"
#include "core/tensor/tensor.h"

#include <unordered_map>

namespace qs {

/// Makes tensors of TensorProtos. Payloads of the mapped file and external data are referenced, not copied, unless they
/// are tiny; those that are not aligned for their element type are copied when they are first read.
class TensorReader {
public:
    TensorReader(SharedBytes file, std::vector<Payload> payloads, ExternalData external, ReadingBudget& budget)
        : m_budget(budget)
        , m_file(std::move(file))
        , m_payloads(std::move(payloads))
        , m_external(std::move(external))
    {
    }

    /// Issues name the tensor. A type number newer than ours gives an invalid tensor: it can be carried, not read.
    /// The proto must outlive the reader (function bodies are read once per call, their tensors are shared).
    Result<Tensor> read(const onnx::TensorProto& proto);
    /// The dense tensor of a sparse one.
    Result<Tensor> readSparse(const onnx::SparseTensorProto& proto);
    /// What was left out of the message that the protos come from.
    const std::vector<Payload>& payloads() const { return m_payloads; }
    const SharedBytes& file() const { return m_file; }
    /// Files beside the model in which tensors lie.
    OpenedFiles externalFiles() const { return m_external.files(); }

private:
    Result<Tensor> make(const onnx::TensorProto& proto);
    Result<SharedBytes> rawBytes(const onnx::TensorProto& proto, size_t payload, size_t needed);

    ReadingBudget& m_budget;
    SharedBytes m_file;
    std::vector<Payload> m_payloads;
    ExternalData m_external;
    std::unordered_map<const onnx::TensorProto*, Tensor> m_made;
};

/// The type of that ONNX number; Undefined for 0 and for numbers newer than ours.
DType dtypeOfNumber(int64_t number);

} // namespace qs
