// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/typed_fields.h"

#include <cstring>

namespace qs {

namespace {

Issue wrongCount(size_t needed, size_t have, const Shape& shape, DType type)
{
    return badInput("its shape " + shapeText(shape) + " of " + std::string(dtypeName(type)) + " needs "
            + std::to_string(needed) + " stored values, but it has " + std::to_string(have),
        {}, "export the model again");
}

/// Narrows each entry of a repeated field to Stored, the storage unit of the type.
template <class Stored, class Field>
Result<Tensor> narrowed(const Field& field, size_t needed, DType type, const Shape& shape)
{
    if (static_cast<size_t>(field.size()) != needed)
        return wrongCount(needed, static_cast<size_t>(field.size()), shape, type);
    Tensor t = Tensor::allocate(type, shape);
    auto* to = const_cast<std::byte*>(t.bytes().data());
    for (size_t i = 0; i < needed; ++i) {
        const auto value = static_cast<Stored>(field[static_cast<int>(i)]);
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
    if (type == DType::Bool)
        for (uint8_t& b : t.fill<uint8_t>())
            b = b != 0;
    return t;
}

Result<Tensor> strings(const onnx::TensorProto& proto, size_t count, const Shape& shape)
{
    if (static_cast<size_t>(proto.string_data_size()) != count)
        return wrongCount(count, static_cast<size_t>(proto.string_data_size()), shape, DType::String);
    return Tensor::strings(shape, { proto.string_data().begin(), proto.string_data().end() });
}

} // namespace

Result<Tensor> tensorOfTypedFields(const onnx::TensorProto& proto, DType type, const Shape& shape)
{
    const auto count = static_cast<size_t>(elementCount(shape).value_or(0));
    switch (type) {
    case DType::Float32:
        return narrowed<float>(proto.float_data(), count, type, shape);
    case DType::Complex64:
        return narrowed<float>(proto.float_data(), count * 2, type, shape);
    case DType::Float64:
        return narrowed<double>(proto.double_data(), count, type, shape);
    case DType::Complex128:
        return narrowed<double>(proto.double_data(), count * 2, type, shape);
    case DType::Int64:
        return narrowed<int64_t>(proto.int64_data(), count, type, shape);
    case DType::UInt64:
        return narrowed<uint64_t>(proto.uint64_data(), count, type, shape);
    case DType::UInt32:
        return narrowed<uint32_t>(proto.uint64_data(), count, type, shape);
    case DType::Int32:
        return narrowed<int32_t>(proto.int32_data(), count, type, shape);
    case DType::UInt16:
    case DType::Int16:
    case DType::Float16:
    case DType::BFloat16:
        return narrowed<uint16_t>(proto.int32_data(), count, type, shape);
    case DType::String:
        return strings(proto, count, shape);
    default: // one byte an element, or several packed elements a byte
        return narrowed<uint8_t>(proto.int32_data(), storageBytes(type, count), type, shape);
    }
}

} // namespace qs
