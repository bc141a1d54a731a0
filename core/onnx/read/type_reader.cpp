// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/type_reader.h"

#include "core/onnx/read/tensor_reader.h"

namespace qs {

namespace {

Dims dimsOf(const onnx::TensorShapeProto& shape)
{
    Dims dims;
    for (const auto& d : shape.dim()) {
        Dim dim;
        if (d.has_dim_value() && d.dim_value() >= 0)
            dim.value = d.dim_value();
        else if (d.has_dim_param())
            dim.symbol = safeText(d.dim_param());
        dims.push_back(std::move(dim));
    }
    return dims;
}

template <class TensorType> ValueType arrayType(const TensorType& type, std::string container)
{
    ValueType t { dtypeOfNumber(type.elem_type()), std::nullopt, std::move(container) };
    if (type.has_shape())
        t.dims = dimsOf(type.shape());
    return t;
}

} // namespace

ValueType valueTypeOf(const onnx::TypeProto& type)
{
    switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
        return arrayType(type.tensor_type(), {});
    case onnx::TypeProto::kSparseTensorType:
        return arrayType(type.sparse_tensor_type(), "sparse_tensor");
    case onnx::TypeProto::kSequenceType:
        return { DType::Sequence, std::nullopt, "sequence",
            std::make_shared<const ValueType>(valueTypeOf(type.sequence_type().elem_type())) };
    case onnx::TypeProto::kMapType:
        return { DType::Map, std::nullopt, "map" };
    case onnx::TypeProto::kOptionalType:
        return { DType::Undefined, std::nullopt, "optional" };
    default:
        return {};
    }
}

bool isImpossible(const ValueType& type)
{
    if (!type.dims)
        return false;
    const auto shape = toShape(*type.dims);
    if (!shape)
        return false;
    const auto count = elementCount(*shape);
    return !count || *count > (int64_t(1) << 56);
}

} // namespace qs
