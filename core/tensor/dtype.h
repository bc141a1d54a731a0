// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qs {

/// Element types, with the numbers of ONNX's TensorProto.DataType, and kinds of values that hold tensors.
enum class DType : uint8_t {
    Undefined = 0,
    Float32 = 1,
    UInt8 = 2,
    Int8 = 3,
    UInt16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Float64 = 11,
    UInt32 = 12,
    UInt64 = 13,
    Complex64 = 14,
    Complex128 = 15,
    BFloat16 = 16,
    Float8E4M3FN = 17,
    Float8E4M3FNUZ = 18,
    Float8E5M2 = 19,
    Float8E5M2FNUZ = 20,
    UInt4 = 21,
    Int4 = 22,
    Float4E2M1 = 23,
    Float8E8M0 = 24,
    UInt2 = 25,
    Int2 = 26,
    // Values that are no tensor; ONNX has no such numbers (core/tensor/container.h).
    Sequence = 128,
    Map = 129,
    NoValue = 130, ///< an optional that is empty
};

constexpr bool isContainer(DType type) { return type >= DType::Sequence; }

/// "float32", "int4" ...; "undefined" for unknown numbers.
std::string_view dtypeName(DType type);
/// Bits of one element (strings, containers and undefined: 0).
size_t dtypeBits(DType type);
/// Bytes of `count` elements in storage; 4- and 2-bit types are packed, lowest bits first. What is too large for any
/// memory is kLargestStorage, which no allocation gives.
constexpr size_t kLargestStorage = SIZE_MAX / 8;
size_t storageBytes(DType type, size_t count);

bool isFloat(DType type); ///< any float type, float8 and float4 included
bool isInteger(DType type); ///< any integer type, 2- and 4-bit included; not Bool
bool isSigned(DType type);
/// Lowest and highest code of an integer type of at most 32 bits.
struct CodeRange {
    int64_t low;
    int64_t high;
};
std::optional<CodeRange> codeRange(DType type);

template <class T> constexpr DType dtypeOf();
template <> constexpr DType dtypeOf<float>() { return DType::Float32; }
template <> constexpr DType dtypeOf<double>() { return DType::Float64; }
template <> constexpr DType dtypeOf<uint8_t>() { return DType::UInt8; }
template <> constexpr DType dtypeOf<int8_t>() { return DType::Int8; }
template <> constexpr DType dtypeOf<uint16_t>() { return DType::UInt16; }
template <> constexpr DType dtypeOf<int16_t>() { return DType::Int16; }
template <> constexpr DType dtypeOf<uint32_t>() { return DType::UInt32; }
template <> constexpr DType dtypeOf<int32_t>() { return DType::Int32; }
template <> constexpr DType dtypeOf<uint64_t>() { return DType::UInt64; }
template <> constexpr DType dtypeOf<int64_t>() { return DType::Int64; }
template <> constexpr DType dtypeOf<bool>() { return DType::Bool; }

} // namespace qs
