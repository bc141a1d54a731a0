// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/microsoft/attention.h"
#include "core/graph/own_domain.h"

#include "core/kernels/sequence/cache_codes.h"
#include "core/tensor/convert.h"

/// What GroupQueryAttention stores as codes, as floats.
namespace qs {

namespace {

Result<LoweredNode> lowerDequantizeCache(const LowerContext& c)
{
    const int64_t bits = c.node.attributes.integer("bits", 8);
    if (bits != 8 && bits != 4)
        return badInput("codes of " + std::to_string(bits) + " bits are no cache");
    const auto run = [bits](StepContext& s) -> Status {
        const Tensor &codes = s.in(0), &scale = s.in(1);
        if (codes.rank() != 4 || codes.dtype() != (bits == 8 ? DType::Int8 : DType::UInt8) || !isFloat(scale.dtype()))
            return badInput(
                "codes of shape " + shapeText(codes.shape()) + " are no cache of " + std::to_string(bits) + " bits");
        const std::vector<float> values = toFloats(scale);
        CacheCodes form { bits, codes.dim(1), codes.dim(3) * 8 / bits, values.data(), scale.count() != 1 };
        if (form.perChannel && scale.count() != form.heads * form.size)
            return badInput("a scale of shape " + shapeText(scale.shape()) + " does not fit a cache of shape "
                + shapeText(codes.shape()));
        Tensor y = s.allocate(DType::Float32, { codes.dim(0), form.heads, codes.dim(2), form.size });
        dequantizeCache(form, reinterpret_cast<const uint8_t*>(codes.bytes().data()), codes.dim(0), codes.dim(2),
            y.fill<float>().data());
        s.setOutput(0, std::move(y));
        return {};
    };
    return LoweredNode { run, "cache" };
}

} // namespace

void lowerCacheReader(LoweringRegistry& r) { r.add(kOwnDomain, kDequantizeCache, lowerDequantizeCache); }

} // namespace qs
