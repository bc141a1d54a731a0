// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/npy_writer.h"

#include "core/base/files/atomic_file.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kPiece = size_t(1) << 16; ///< elements that are made at a time

} // namespace

std::string npyTypeName(DType type)
{
    switch (type) {
    case DType::Float32:
        return "<f4";
    case DType::Float64:
        return "<f8";
    case DType::Float16:
        return "<f2";
    case DType::UInt8:
        return "|u1";
    case DType::Int8:
        return "|i1";
    case DType::UInt16:
        return "<u2";
    case DType::Int16:
        return "<i2";
    case DType::UInt32:
        return "<u4";
    case DType::Int32:
        return "<i4";
    case DType::UInt64:
        return "<u8";
    case DType::Int64:
        return "<i8";
    case DType::Bool:
        return "|b1";
    case DType::Complex64:
        return "<c8";
    case DType::Complex128:
        return "<c16";
    default:
        return {};
    }
}

std::string npyHeader(const std::string& typeName, const Shape& shape)
{
    std::string sizes;
    for (const int64_t d : shape)
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(d);
    if (shape.size() == 1)
        sizes += ',';
    std::string dict = "{'descr': '" + typeName + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
    dict.append(63 - (10 + dict.size()) % 64, ' ');
    dict += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(dict.size() & 0xff);
    header += static_cast<char>(dict.size() >> 8);
    return header + dict;
}

Status writeNpy(const std::string& path, DType type, const Shape& shape, const NpyFill& fill, const CancelToken& cancel)
{
    const auto count = elementCount(shape);
    if (!count)
        return badInput("the array is too large", path);
    const auto elements = size_t(*count), bytes = dtypeBits(type) / 8;
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    QS_CHECK(file.write(npyHeader(npyTypeName(type), shape)));
    std::vector<std::byte> buffer(std::min(elements, kPiece) * bytes);
    for (size_t first = 0; first < elements; first += kPiece) {
        if (cancel.cancelled())
            return cancelled();
        const std::span<std::byte> piece = std::span(buffer).first(std::min(kPiece, elements - first) * bytes);
        fill(first, piece);
        QS_CHECK(file.write({ reinterpret_cast<const char*>(piece.data()), piece.size() }));
    }
    return file.commit();
}

} // namespace qs
