// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/onnx/read/tensor_reader.h"

#include <onnx/onnx-data_pb.h>

namespace qs {

/// Makes values of the messages that hold several tensors or none (core/tensor/container.h).
class ValueReader {
public:
    explicit ValueReader(TensorReader& tensors)
        : m_tensors(tensors)
    {
    }
    Result<Tensor> sequence(const onnx::SequenceProto& proto);
    Result<Tensor> optional(const onnx::OptionalProto& proto);
    Result<Tensor> map(const onnx::MapProto& proto);
    /// An Issue for an element type that is newer than ours.
    Result<Tensor> tensor(const onnx::TensorProto& proto);

private:
    TensorReader& m_tensors;
};

} // namespace qs
