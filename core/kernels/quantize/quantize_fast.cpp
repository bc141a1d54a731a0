// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/quantize.h"

#include "core/kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize/quantize_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

/// The last elements of a run go through a padded block, so that every element sees the same instructions.
template <class In, class Out, class Block> void blocks(const In* in, Out* out, QuantRun q, size_t n, Block block)
{
    const size_t lanes = hn::Lanes(D());
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        block(in + i, out + i, q.scale + i * q.stride, q.zeroPoint + i * q.stride);
    if (i == n)
        return;
    constexpr size_t kMost = hn::MaxLanes(D());
    In restIn[kMost] = {};
    Out restOut[kMost];
    float scale[kMost];
    int32_t zeroPoint[kMost];
    for (size_t k = 0; k < lanes; ++k) {
        const size_t at = i + k < n ? i + k : i;
        restIn[k] = in[at];
        scale[k] = q.scale[at * q.stride];
        zeroPoint[k] = q.zeroPoint[at * q.stride];
    }
    block(restIn, restOut, scale, zeroPoint);
    for (size_t k = i; k < n; ++k)
        out[k] = restOut[k - i];
}

template <class T> HWY_INLINE void quantizeBlock(V x, V scale, VI zeroPoint, T* out)
{
    const D d;
    const V zp = hn::ConvertTo(d, zeroPoint);
    const V low = hn::Sub(hn::Set(d, static_cast<float>(std::numeric_limits<T>::min())), zp);
    const V high = hn::Sub(hn::Set(d, static_cast<float>(std::numeric_limits<T>::max())), zp);
    V v = hn::Div(x, scale);
    v = hn::IfThenElse(hn::Gt(v, low), v, low); // NaN too becomes the lowest code
    v = hn::IfThenElse(hn::Gt(v, high), high, v);
    hn::StoreU(hn::DemoteTo(hn::Rebind<T, D>(), hn::Add(hn::NearestInt(v), zeroPoint)), hn::Rebind<T, D>(), out);
}

template <class T> void quantize(const float* x, QuantRun q, T* codes, size_t n)
{
    const D d;
    const DI di;
    if (q.stride)
        return blocks(x, codes, q, n, [=](const float* in, T* out, const float* scale, const int32_t* zp) {
            quantizeBlock(hn::LoadU(d, in), hn::LoadU(d, scale), hn::LoadU(di, zp), out);
        });
    const V scale = hn::Set(d, *q.scale);
    const VI zp = hn::Set(di, *q.zeroPoint);
    blocks(x, codes, q, n, [=](const float* in, T* out, const float*, const int32_t*) {
        quantizeBlock(hn::LoadU(d, in), scale, zp, out);
    });
}

HWY_INLINE VI loadCodes(const int32_t* in) { return hn::LoadU(DI(), in); }
template <class T> HWY_INLINE VI loadCodes(const T* in)
{
    return hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<T, DI>(), in));
}

template <class T> void dequantize(const T* codes, QuantRun q, float* x, size_t n)
{
    const D d;
    const DI di;
    if (q.stride)
        return blocks(codes, x, q, n, [=](const T* in, float* out, const float* scale, const int32_t* zp) {
            const VI centred = hn::Sub(loadCodes(in), hn::LoadU(di, zp));
            hn::StoreU(hn::Mul(hn::ConvertTo(d, centred), hn::LoadU(d, scale)), d, out);
        });
    const V scale = hn::Set(d, *q.scale);
    const VI zp = hn::Set(di, *q.zeroPoint);
    blocks(codes, x, q, n, [=](const T* in, float* out, const float*, const int32_t*) {
        hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::Sub(loadCodes(in), zp)), scale), d, out);
    });
}

// One function a type, since dispatch tables hold no templates.
void quantizeU8(const float* x, QuantRun q, uint8_t* c, size_t n) { quantize(x, q, c, n); }
void quantizeS8(const float* x, QuantRun q, int8_t* c, size_t n) { quantize(x, q, c, n); }
void quantizeU16(const float* x, QuantRun q, uint16_t* c, size_t n) { quantize(x, q, c, n); }
void quantizeS16(const float* x, QuantRun q, int16_t* c, size_t n) { quantize(x, q, c, n); }
void dequantizeU8(const uint8_t* c, QuantRun q, float* x, size_t n) { dequantize(c, q, x, n); }
void dequantizeS8(const int8_t* c, QuantRun q, float* x, size_t n) { dequantize(c, q, x, n); }
void dequantizeU16(const uint16_t* c, QuantRun q, float* x, size_t n) { dequantize(c, q, x, n); }
void dequantizeS16(const int16_t* c, QuantRun q, float* x, size_t n) { dequantize(c, q, x, n); }
void dequantizeS32(const int32_t* c, QuantRun q, float* x, size_t n) { dequantize(c, q, x, n); }

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(quantizeU8);
HWY_EXPORT(quantizeS8);
HWY_EXPORT(quantizeU16);
HWY_EXPORT(quantizeS16);
HWY_EXPORT(dequantizeU8);
HWY_EXPORT(dequantizeS8);
HWY_EXPORT(dequantizeU16);
HWY_EXPORT(dequantizeS16);
HWY_EXPORT(dequantizeS32);

template <> void quantizeFast(const float* x, QuantRun q, uint8_t* codes, size_t n)
{
    HWY_DYNAMIC_DISPATCH(quantizeU8)(x, q, codes, n);
}
template <> void quantizeFast(const float* x, QuantRun q, int8_t* codes, size_t n)
{
    HWY_DYNAMIC_DISPATCH(quantizeS8)(x, q, codes, n);
}
template <> void quantizeFast(const float* x, QuantRun q, uint16_t* codes, size_t n)
{
    HWY_DYNAMIC_DISPATCH(quantizeU16)(x, q, codes, n);
}
template <> void quantizeFast(const float* x, QuantRun q, int16_t* codes, size_t n)
{
    HWY_DYNAMIC_DISPATCH(quantizeS16)(x, q, codes, n);
}
template <> void dequantizeFast(const uint8_t* codes, QuantRun q, float* x, size_t n)
{
    HWY_DYNAMIC_DISPATCH(dequantizeU8)(codes, q, x, n);
}
template <> void dequantizeFast(const int8_t* codes, QuantRun q, float* x, size_t n)
{
    HWY_DYNAMIC_DISPATCH(dequantizeS8)(codes, q, x, n);
}
template <> void dequantizeFast(const uint16_t* codes, QuantRun q, float* x, size_t n)
{
    HWY_DYNAMIC_DISPATCH(dequantizeU16)(codes, q, x, n);
}
template <> void dequantizeFast(const int16_t* codes, QuantRun q, float* x, size_t n)
{
    HWY_DYNAMIC_DISPATCH(dequantizeS16)(codes, q, x, n);
}
template <> void dequantizeFast(const int32_t* codes, QuantRun q, float* x, size_t n)
{
    HWY_DYNAMIC_DISPATCH(dequantizeS32)(codes, q, x, n);
}

} // namespace qs
#endif
