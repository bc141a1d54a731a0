// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/tensor_reader.h"

#include "core/onnx/read/typed_fields.h"
#include "core/tensor/empty_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace qs {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and is used as it lies");

namespace {

constexpr size_t kSmallBytes = 1024; // copied, so that a scale does not pin a page of the file
constexpr size_t kMaxElements = size_t(1) << 56; // keeps every byte count below 2^64

Issue tensorIssue(std::string what, std::string remedy = "export the model again")
{
    return badInput(std::move(what), {}, std::move(remedy));
}

size_t alignmentOf(DType type)
{
    if (type == DType::Complex64 || type == DType::Complex128)
        return dtypeBits(type) / 16;
    return std::max<size_t>(dtypeBits(type) / 8, 1);
}

Result<Shape> shapeOf(const google::protobuf::RepeatedField<int64_t>& dims)
{
    Shape shape(dims.begin(), dims.end());
    for (int64_t d : shape)
        if (d < 0)
            return tensorIssue("its shape has the negative size " + std::to_string(d));
    if (const auto count = elementCount(shape); !count || static_cast<size_t>(*count) > kMaxElements)
        return tensorIssue("its shape " + shapeText(shape) + " is too large for any memory");
    if (isEndlessNothing(shape))
        return tensorIssue("its shape " + shapeText(shape) + " is that of no element, and yet too large");
    return shape;
}

Tensor copied(DType type, const Shape& shape, std::span<const std::byte> bytes)
{
    Tensor t = Tensor::allocate(type, shape);
    if (!bytes.empty())
        std::memcpy(const_cast<std::byte*>(t.bytes().data()), bytes.data(), bytes.size());
    if (type == DType::Bool) // any non-zero byte means true; readers rely on 0 and 1
        for (uint8_t& b : t.fill<uint8_t>())
            b = b != 0;
    return t;
}

Tensor referenced(DType type, const Shape& shape, const SharedBytes& raw)
{
    const auto address = reinterpret_cast<uintptr_t>(raw.bytes.data());
    if (raw.bytes.size() <= kSmallBytes || type == DType::Bool)
        return copied(type, shape, raw.bytes);
    if (address % alignmentOf(type) != 0)
        return Tensor::wrapUnaligned(type, shape, raw.bytes.data(), raw.owner);
    return Tensor::wrap(type, shape, raw.bytes.data(), raw.owner);
}

} // namespace

DType dtypeOfNumber(int64_t number)
{
    return number > 0 && number <= int64_t(DType::Int2) ? static_cast<DType>(number) : DType::Undefined;
}

Result<Tensor> TensorReader::read(const onnx::TensorProto& proto)
{
    if (const auto it = m_made.find(&proto); it != m_made.end())
        return it->second;
    auto made = make(proto);
    if (!made) {
        Issue issue = std::move(made).issue();
        issue.tensor = safeText(proto.name());
        return issue;
    }
    m_made.emplace(&proto, *made);
    return made;
}

Result<Tensor> TensorReader::make(const onnx::TensorProto& proto)
{
    QS_TRY(const Shape shape, shapeOf(proto.dims()));
    const auto count = static_cast<size_t>(*elementCount(shape));
    const DType type = dtypeOfNumber(proto.data_type());
    if (proto.data_type() <= 0)
        return tensorIssue("it has no element type");
    if (type == DType::Undefined)
        return Tensor();
    if (proto.has_segment())
        return tensorIssue("it is stored in segments, which are not supported", "store it in one piece");
    const auto payload = payloadIndex(proto);
    if (payload || proto.data_location() == onnx::TensorProto::EXTERNAL) {
        if (type == DType::String)
            return tensorIssue("it has strings, which cannot be stored as raw bytes");
        QS_TRY(const SharedBytes raw, rawBytes(proto, payload.value_or(0), storageBytes(type, count)));
        return referenced(type, shape, raw);
    }
    return tensorOfTypedFields(proto, type, shape);
}

Result<SharedBytes> TensorReader::rawBytes(const onnx::TensorProto& proto, size_t payload, size_t needed)
{
    if (proto.data_location() == onnx::TensorProto::EXTERNAL)
        return m_external.read(proto, needed);
    if (payload >= m_payloads.size())
        return internalError("a payload was lost while scanning");
    const Payload& p = m_payloads[payload];
    if (p.length != needed) {
        Shape shape(proto.dims().begin(), proto.dims().end());
        return tensorIssue("its shape " + shapeText(shape) + " of "
            + std::string(dtypeName(dtypeOfNumber(proto.data_type()))) + " needs " + std::to_string(needed)
            + " bytes, but it has " + std::to_string(p.length));
    }
    return SharedBytes { m_file.bytes.subspan(p.offset, p.length), m_file.owner };
}

Result<Tensor> TensorReader::readSparse(const onnx::SparseTensorProto& proto)
{
    const std::string name = safeText(proto.values().name());
    const auto sparseIssue = [&](std::string what) {
        Issue issue = tensorIssue(std::move(what));
        issue.tensor = name;
        return issue;
    };
    auto shape = shapeOf(proto.dims());
    if (!shape)
        return sparseIssue(shape.issue().what);
    QS_TRY(const Tensor values, read(proto.values()));
    QS_TRY(const Tensor indices, read(proto.indices()));
    const size_t bits = dtypeBits(values.dtype());
    if (!values.valid() || bits < 8)
        return sparseIssue("it is sparse with an element type that cannot be made dense");
    const auto count = static_cast<size_t>(*elementCount(*shape));
    const size_t rank = shape->size();
    const bool flat = indices.rank() == 1;
    if (indices.dtype() != DType::Int64 || values.rank() != 1
        || (!flat && indices.shape() != Shape { values.count(), int64_t(rank) })
        || (flat && indices.count() != values.count()))
        return sparseIssue("its sparse indices do not fit its values");
    if (!m_budget.takeDense(storageBytes(values.dtype(), count)))
        return sparseIssue("it is sparse and, with those before it, too large for this file as a dense tensor");
    Tensor dense = Tensor::allocate(values.dtype(), *shape);
    auto* to = const_cast<std::byte*>(dense.bytes().data());
    std::memset(to, 0, dense.byteCount());
    const auto strides = rowMajorStrides(*shape);
    const auto index = indices.data<int64_t>();
    for (size_t v = 0; v < size_t(values.count()); ++v) {
        int64_t place = flat ? index[v] : 0;
        for (size_t d = 0; !flat && d < rank; ++d) {
            const int64_t i = index[v * rank + d];
            place = i < 0 || i >= (*shape)[d] || place < 0 ? -1 : place + i * strides[d];
        }
        if (place < 0 || place >= dense.count())
            return sparseIssue("one of its sparse indices is outside its shape");
        std::memcpy(to + size_t(place) * bits / 8, values.bytes().data() + v * bits / 8, bits / 8);
    }
    return dense;
}

} // namespace qs
