// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

#include "core/tensor/convert.h"

/// RotaryEmbedding of com.microsoft by way of ONNX's. Source: ONNX Runtime's operator documentation.
namespace qs {

Result<Tensor> rotate(const StepContext& s, const RotarySettings& settings, const Tensor& x, const Tensor& cosines,
    const Tensor& sines, const Tensor& positions, KernelMode mode)
{
    if (cosines.rank() != 2)
        return badInput("the cache must be a matrix, not " + shapeText(cosines.shape()));
    int64_t heads = settings.heads;
    if (x.rank() == 3 && heads == 0) {
        const int64_t size = 2 * cosines.dim(1);
        heads = size > 0 ? x.dim(2) / size : 0;
    }
    Node node = innerNode("RotaryEmbedding", {}, 23);
    node.attributes.set("interleaved", int64_t(settings.interleaved));
    node.attributes.set("rotary_embedding_dim", settings.rotated);
    node.attributes.set("num_heads", heads);
    QS_TRY(const InnerOp op,
        InnerOp::make(std::move(node),
            { { x.dtype(), {}, true }, { cosines.dtype(), {}, true }, { sines.dtype(), {}, true },
                { DType::Int64, {}, true } },
            mode));
    return op.run(s, { &x, &cosines, &sines, &positions });
}

Tensor positionsFrom(const StepContext& s, const std::vector<int64_t>& first, int64_t tokens)
{
    Tensor t = s.allocate(DType::Int64, { static_cast<int64_t>(first.size()), tokens });
    int64_t* to = t.fill<int64_t>().data();
    for (int64_t start : first)
        for (int64_t k = 0; k < tokens; ++k)
            *to++ = start + k;
    return t;
}

namespace {

/// x, positions (all, or one offset), cosines, sines.
Status runRotary(const RotarySettings& settings, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 4));
    const Tensor &x = s.in(0), &given = s.in(1);
    QS_CHECK(needFloat(x.dtype()));
    if (x.rank() != 3 && x.rank() != 4)
        return badInput("the input must have rank 3 or 4, not " + shapeText(x.shape()));
    const int64_t batch = x.dim(0), tokens = x.dim(x.rank() - 2);
    if (!isInteger(given.dtype()) || (given.count() != 1 && given.count() != batch * tokens))
        return badInput("positions of shape " + shapeText(given.shape()) + " do not fit the input");
    const Tensor positions = given.count() == batch * tokens && given.rank() == 2
        ? given
        : positionsFrom(s, std::vector<int64_t>(static_cast<size_t>(batch), elementAsInt(given, 0)), tokens);
    QS_TRY(Tensor y, rotate(s, settings, x, s.in(2), s.in(3), positions, mode));
    s.setOutput(0, std::move(y));
    return {};
}

RotarySettings rotarySettings(const Node& node)
{
    const Attributes& a = node.attributes;
    return { a.integer("num_heads", 0), a.integer("rotary_embedding_dim", 0), a.integer("interleaved", 0) != 0 };
}

Result<LoweredNode> lowerRotary(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    if (c.node.attributes.integer("is_packed_batching", 0))
        return badInput("packed batches are not supported");
    return LoweredNode { [settings = rotarySettings(c.node), mode = c.mode](
                             StepContext& s) { return runRotary(settings, mode, s); },
        c.mode == KernelMode::Reference ? "reference" : "rotary" };
}

} // namespace

void lowerRotaryEmbedding(LoweringRegistry& r) { r.add(kMicrosoftDomain, "RotaryEmbedding", lowerRotary); }

} // namespace qs
