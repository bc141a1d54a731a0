// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/export/value_array.h"

#include "core/data/arrays/npy_writer.h"
#include "widgets/session/export/exports.h"

namespace qs {

namespace {

template <class T> void fillAs(std::span<std::byte> piece, auto valueOf)
{
    auto* const to = reinterpret_cast<T*>(piece.data());
    for (size_t i = 0; i < piece.size() / sizeof(T); ++i)
        to[i] = static_cast<T>(valueOf(i));
}

/// Elements of a grid in an array's type.
void fillPiece(DType type, std::span<std::byte> piece, auto valueOf)
{
    switch (type) {
    case DType::Bool:
    case DType::UInt8:
        return fillAs<uint8_t>(piece, valueOf);
    case DType::Int8:
        return fillAs<int8_t>(piece, valueOf);
    case DType::UInt16:
        return fillAs<uint16_t>(piece, valueOf);
    case DType::Int16:
        return fillAs<int16_t>(piece, valueOf);
    case DType::UInt32:
        return fillAs<uint32_t>(piece, valueOf);
    case DType::Int32:
        return fillAs<int32_t>(piece, valueOf);
    case DType::UInt64:
        return fillAs<uint64_t>(piece, valueOf);
    case DType::Int64:
        return fillAs<int64_t>(piece, valueOf);
    case DType::Float64:
        return fillAs<double>(piece, valueOf);
    default:
        return fillAs<float>(piece, valueOf);
    }
}

/// Whole bytes of the same sign for codes of 2 and 4 bits.
DType wholeBytes(DType type) { return dtypeBits(type) >= 8 ? type : isSigned(type) ? DType::Int8 : DType::UInt8; }

} // namespace

DType savedType(const TensorValues& values, ValueKind kind)
{
    const Elements* side = kind == ValueKind::Float ? &*values.reference : quantizedOf(values, kind);
    if (isCodes(kind))
        return wholeBytes(side->params().dtype);
    if (kind != ValueKind::Float && kind != ValueKind::Quantized && kind != ValueKind::Other)
        return DType::Float64; // a difference of two float32 numbers need not be one
    const DType type = side->dtype();
    return isInteger(type) ? wholeBytes(type) : type == DType::Bool || type == DType::Float64 ? type : DType::Float32;
}

void saveValues(Session& session, const std::shared_ptr<const TensorValues>& values, ValueKind kind,
    const TensorSlice& slice, const QString& path)
{
    const DType type = savedType(*values, kind);
    writeInJob(session, QStringLiteral("save-values"), path, [values, kind, slice, type, path](const JobContext& job) {
        const SliceGrid grid = SliceGrid::inOrder(slice, values->shape);
        const Elements* side = kind == ValueKind::Float ? &*values->reference : quantizedOf(*values, kind);
        const auto fill = [&](size_t first, std::span<std::byte> piece) {
            if (isCodes(kind))
                return fillPiece(type, piece, [&](size_t i) { return side->code(grid.at(first + i)); });
            if (isInteger(type))
                return fillPiece(type, piece, [&](size_t i) { return side->integer(grid.at(first + i)); });
            fillPiece(type, piece, [&](size_t i) { return valueAt(*values, kind, grid.at(first + i)); });
        };
        return writeNpy(path.toStdString(), type, slice.shape(), fill, job.cancel);
    });
}

} // namespace qs
