// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// Lowest and highest value of codes before scale and zero point: of integers the codes, of float8 and float4 their
/// finite values; none of other types.
struct CodeValues {
    double low = 0, high = 0;
};
CodeValues codeValues(DType type);

/// Parameters of one quantizer: real = scale * (code - zero point). One scale (per tensor), one per index of `axis`
/// (per channel), or one per block along `axis` (blockSize > 0; then scales lie row-major over the blocked shape).
struct QuantParams {
    DType dtype = DType::Undefined; ///< type of the codes
    std::vector<float> scale;
    std::vector<int32_t> zeroPoint; ///< as many as scales
    std::optional<int64_t> axis; ///< logical axis; nullopt = per tensor
    int64_t blockSize = 0;
    std::vector<float> zeroRest = {}; ///< what real zero points (hqq) have beyond the whole ones; empty: nothing
    std::optional<CodeRange> kept = {}; ///< the codes that a Clip behind the quantizer leaves; else all of the type

    bool perTensor() const { return scale.size() == 1; }
    /// The zero point of a scale, whole or not; 0 where there is none.
    double zero(size_t s) const
    {
        return (s < zeroPoint.size() ? double(zeroPoint[s]) : 0) + (s < zeroRest.size() ? double(zeroRest[s]) : 0);
    }
    /// Of an integer type; nothing but 0 of others.
    CodeRange codes() const { return kept ? *kept : codeRange(dtype).value_or(CodeRange { 0, 0 }); }
    /// The same of any type.
    CodeValues values() const
    {
        return kept ? CodeValues { double(kept->low), double(kept->high) } : codeValues(dtype);
    }
    /// That the codes need: those of the type, or fewer where only some of its codes are kept.
    size_t bits() const;
    /// Real value of the lowest and highest code of channel c.
    double low(size_t c = 0) const { return double(scale[c]) * (values().low - zero(c)); }
    double high(size_t c = 0) const { return double(scale[c]) * (values().high - zero(c)); }
};

} // namespace qs
