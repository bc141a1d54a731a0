// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/dtype.h"

#include <array>

namespace qs {

namespace {

enum class Kind : uint8_t { None, Float, Signed, Unsigned, Other };

struct TypeRow {
    std::string_view name;
    size_t bits;
    Kind kind;
};

constexpr std::array<TypeRow, 27> kTypes { {
    { "undefined", 0, Kind::None },
    { "float32", 32, Kind::Float },
    { "uint8", 8, Kind::Unsigned },
    { "int8", 8, Kind::Signed },
    { "uint16", 16, Kind::Unsigned },
    { "int16", 16, Kind::Signed },
    { "int32", 32, Kind::Signed },
    { "int64", 64, Kind::Signed },
    { "string", 0, Kind::Other },
    { "bool", 8, Kind::Other },
    { "float16", 16, Kind::Float },
    { "float64", 64, Kind::Float },
    { "uint32", 32, Kind::Unsigned },
    { "uint64", 64, Kind::Unsigned },
    { "complex64", 64, Kind::Other },
    { "complex128", 128, Kind::Other },
    { "bfloat16", 16, Kind::Float },
    { "float8e4m3fn", 8, Kind::Float },
    { "float8e4m3fnuz", 8, Kind::Float },
    { "float8e5m2", 8, Kind::Float },
    { "float8e5m2fnuz", 8, Kind::Float },
    { "uint4", 4, Kind::Unsigned },
    { "int4", 4, Kind::Signed },
    { "float4e2m1", 4, Kind::Float },
    { "float8e8m0", 8, Kind::Float },
    { "uint2", 2, Kind::Unsigned },
    { "int2", 2, Kind::Signed },
} };

constexpr std::array<TypeRow, 3> kContainers { {
    { "sequence", 0, Kind::None },
    { "map", 0, Kind::None },
    { "empty optional", 0, Kind::None },
} };

const TypeRow& row(DType type)
{
    if (isContainer(type) && type <= DType::NoValue)
        return kContainers[static_cast<size_t>(type) - static_cast<size_t>(DType::Sequence)];
    const auto i = static_cast<size_t>(type);
    return kTypes[i < kTypes.size() ? i : 0];
}

} // namespace

std::string_view dtypeName(DType type) { return row(type).name; }
size_t dtypeBits(DType type) { return row(type).bits; }

size_t storageBytes(DType type, size_t count)
{
    size_t bits = 0;
    if (__builtin_mul_overflow(count, dtypeBits(type), &bits) || bits > SIZE_MAX - 7)
        return kLargestStorage;
    return (bits + 7) / 8;
}

bool isFloat(DType type) { return row(type).kind == Kind::Float; }
bool isInteger(DType type) { return row(type).kind == Kind::Signed || row(type).kind == Kind::Unsigned; }
bool isSigned(DType type) { return row(type).kind == Kind::Signed || row(type).kind == Kind::Float; }

std::optional<CodeRange> codeRange(DType type)
{
    const TypeRow& r = row(type);
    if (!isInteger(type) || r.bits > 32)
        return std::nullopt;
    const int64_t span = int64_t(1) << r.bits;
    if (r.kind == Kind::Signed)
        return CodeRange { -span / 2, span / 2 - 1 };
    return CodeRange { 0, span - 1 };
}

} // namespace qs
