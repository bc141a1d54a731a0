// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/kernel_mode.h"
#include "core/kernels/movement/element_io.h"
#include "core/tensor/tensor.h"

#include <array>
#include <utility>

/// The types that element-wise arithmetic is done in.
namespace qs {

enum class WorkType { Float, Double, Int, UInt };

inline WorkType workTypeOf(DType type, KernelMode mode)
{
    if (type == DType::Float64 || (isFloat(type) && mode == KernelMode::Reference))
        return WorkType::Double;
    if (isFloat(type))
        return WorkType::Float;
    return type == DType::UInt64 ? WorkType::UInt : WorkType::Int;
}

/// For operands of two types: doubles where floats meet integers or doubles.
inline WorkType commonWorkType(WorkType a, WorkType b)
{
    if (a == b)
        return a;
    const auto isInt = [](WorkType w) { return w == WorkType::Int || w == WorkType::UInt; };
    return isInt(a) && isInt(b) ? WorkType::Int : WorkType::Double;
}

/// Calls fn with a value of the chosen type.
template <class Fn> auto withWorkType(WorkType type, Fn fn)
{
    switch (type) {
    case WorkType::Float:
        return fn(float {});
    case WorkType::Double:
        return fn(double {});
    case WorkType::Int:
        return fn(int64_t {});
    default:
        return fn(uint64_t {});
    }
}

/// Numbers we compute with: not strings, not complex.
inline bool isNumeric(DType type) { return isFloat(type) || isInteger(type) || type == DType::Bool; }

inline std::byte* writable(Tensor& t) { return t.fill<std::byte>().data(); }

constexpr size_t kChunk = 1024; ///< elements converted at a time, so that they stay in the nearest cache

/// Reads x chunk by chunk as W, calls fn(in, out, n), stores `out` in the element type of y.
template <class W, class Fn> void mapChunks(const Tensor& x, Tensor& y, Fn fn)
{
    std::array<W, kChunk> in, out;
    for (size_t i = 0, count = static_cast<size_t>(x.count()); i < count; i += kChunk) {
        const size_t n = std::min(kChunk, count - i);
        loadElements(x.dtype(), x.bytes().data(), i, in.data(), n);
        fn(in.data(), out.data(), n);
        storeElements(y.dtype(), writable(y), i, out.data(), n);
    }
}

inline Issue unsupportedType(DType type)
{
    return badInput("element type " + std::string(dtypeName(type)) + " is not supported here");
}

} // namespace qs
