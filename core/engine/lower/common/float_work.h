// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/broadcast_operands.h"
#include "core/engine/lower/common/element_types.h"
#include "core/kernels/reduce/norm.h"
#include "core/tensor/convert.h"

/// Float types are computed in float32, or in double for float64 and in reference mode.
namespace qs {

inline bool isComputedFloat(DType type)
{
    return type == DType::Float32 || type == DType::Float64 || type == DType::Float16 || type == DType::BFloat16;
}

/// Types that elements of other types are converted to and from.
template <class W>
constexpr bool kIsWorkType
    = std::is_same_v<W,
          float> || std::is_same_v<W, double> || std::is_same_v<W, int64_t> || std::is_same_v<W, uint64_t>;

/// Elements as W in the same layout; no copy when they are. Only work types convert.
template <class W> Tensor asWork(const StepContext& c, const Tensor& t)
{
    if (t.dtype() == dtypeOf<W>())
        return t;
    if (!isNumeric(t.dtype()))
        throw MalformedNode("an input of type " + std::string(dtypeName(t.dtype())) + " is no number");
    Tensor out = c.allocate(dtypeOf<W>(), t.shape(), t.layout());
    if constexpr (kIsWorkType<W>)
        loadElements(t.dtype(), t.bytes().data(), 0, out.fill<W>().data(), static_cast<size_t>(t.count()));
    return out;
}

/// The inverse: elements of a float32, float64 or integer work tensor as `type`.
template <class W> Tensor fromWork(const StepContext& c, Tensor work, DType type)
{
    if (work.dtype() == type)
        return work;
    Tensor out = c.allocate(type, work.shape(), work.layout());
    if constexpr (kIsWorkType<W>)
        storeElements(type, writable(out), 0, work.data<W>().data(), static_cast<size_t>(work.count()));
    return out;
}

template <class W> const W* dataOrNull(const Tensor& t) { return t.valid() ? t.data<W>().data() : nullptr; }

/// Calls fn(W {}) with the type that `type` is computed in.
template <class Fn> auto withFloatWork(DType type, KernelMode mode, Fn fn)
{
    if (type == DType::Float64 || mode == KernelMode::Reference)
        return fn(double {});
    return fn(float {});
}

/// A constant as plain float32; no copy when it is.
inline Tensor constantFloats(const Tensor& t)
{
    const Tensor plain = toPlain(t);
    if (plain.dtype() == DType::Float32)
        return plain;
    if (!isNumeric(plain.dtype()))
        throw MalformedNode("a constant of type " + std::string(dtypeName(plain.dtype())) + " is no number");
    Tensor out = Tensor::allocate(DType::Float32, plain.shape());
    loadElements(plain.dtype(), plain.bytes().data(), 0, out.fill<float>().data(), size_t(plain.count()));
    return out;
}

/// Issue unless input 0 is of a float type we compute with (unknown types are looked at when the node runs).
inline Status needFloat(DType type)
{
    if (type == DType::Undefined || isComputedFloat(type))
        return {};
    return unsupportedType(type);
}

/// Sizes before, at and after an axis given the ONNX way.
inline Result<AxisShape> axisShape(const Tensor& x, int64_t axis)
{
    const auto a = normalizedAxis(axis, x.rank());
    if (!a)
        return badInput(
            "axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(x.rank()));
    AxisShape s { 1, x.dim(*a), 1 };
    for (size_t d = 0; d < x.rank(); ++d)
        if (d != *a)
            (d < *a ? s.outer : s.inner) *= x.dim(d);
    return s;
}

} // namespace qs
