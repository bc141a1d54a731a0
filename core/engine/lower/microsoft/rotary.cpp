// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <numeric>

/// RotaryEmbedding and MRotaryEmbedding of com.microsoft by way of ONNX's. Source: ONNX Runtime's operator
/// documentation.
namespace qs {

Result<Tensor> rotate(const StepContext& s, const RotarySettings& settings, const Tensor& x, const Tensor& cosines,
    const Tensor& sines, const Tensor* positions, KernelMode mode)
{
    if (cosines.rank() != (positions ? 2u : 3u))
        return badInput("the cache must be a matrix, not " + shapeText(cosines.shape()));
    int64_t heads = settings.heads;
    if (x.rank() == 3 && heads == 0) {
        const int64_t size = 2 * cosines.shape().back();
        heads = size > 0 ? x.dim(2) / size : 0;
    }
    Node node = innerNode("RotaryEmbedding", {}, 23);
    node.attributes.set("interleaved", int64_t(settings.interleaved));
    node.attributes.set("rotary_embedding_dim", settings.rotated);
    node.attributes.set("num_heads", heads);
    QS_TRY(const InnerOp op,
        InnerOp::make(std::move(node),
            { { x.dtype(), {}, true }, { cosines.dtype(), {}, true }, { sines.dtype(), {}, true },
                { DType::Int64, {}, positions != nullptr } },
            mode));
    return op.run(s, { &x, &cosines, &sines, positions });
}

Tensor positionsFrom(const StepContext& s, const std::vector<int64_t>& first, int64_t tokens)
{
    Tensor t = s.allocate(DType::Int64, { static_cast<int64_t>(first.size()), tokens });
    int64_t* to = t.fill<int64_t>().data();
    constexpr int64_t kFarthest = int64_t(1) << 62; // no table has as many rows
    for (int64_t start : first)
        for (int64_t k = 0; k < tokens; ++k)
            *to++ = std::clamp(start, -kFarthest, kFarthest) + k;
    return t;
}

namespace {

/// x, positions (all, or one offset), cosines, sines.
Status runOwnRotary(const RotarySettings& settings, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 4));
    const Tensor &x = s.in(0), &given = s.in(1);
    QS_CHECK(needFloat(x.dtype()));
    if (x.rank() != 3 && x.rank() != 4)
        return badInput("the input must have rank 3 or 4, not " + shapeText(x.shape()));
    const int64_t batch = x.dim(0), tokens = x.dim(x.rank() - 2);
    if (!isInteger(given.dtype()) || (given.count() != 1 && given.count() != batch * tokens))
        return badInput("positions of shape " + shapeText(given.shape()) + " do not fit the input");
    if (given.count() == 0)
        return badInput("there are no positions");
    const Tensor positions = given.count() == batch * tokens && given.rank() == 2
        ? given
        : positionsFrom(s, std::vector<int64_t>(static_cast<size_t>(batch), elementAsInt(given, 0)), tokens);
    QS_TRY(Tensor y, rotate(s, settings, x, s.in(2), s.in(3), &positions, mode));
    s.setOutput(0, std::move(y));
    return {};
}

RotarySettings rotarySettings(const Node& node)
{
    const Attributes& a = node.attributes;
    return { a.integer("num_heads", 0), a.integer("rotary_embedding_dim", 0), a.integer("interleaved", 0) != 0 };
}

/// Which of the positions' three streams (time, height, width) turns each pair: one section behind the other, or time
/// everywhere but at every third pair, as far as the sections of height and width go.
Result<std::vector<size_t>> streamOfPairs(const Node& node, int64_t pairs)
{
    const std::vector<int64_t> sections = node.attributes.integers("mrope_section");
    const bool three = sections.size() == 3
        && std::ranges::all_of(sections, [pairs](int64_t n) { return n >= 0 && n <= pairs; }); // sums fit 64 bits
    if (!three || std::accumulate(sections.begin(), sections.end(), int64_t(0)) != pairs)
        return badInput("mrope_section must be three numbers whose sum is " + std::to_string(pairs));
    std::vector<size_t> streams;
    const bool mixed = node.attributes.integer("mrope_layout", 0) != 0;
    for (int64_t i = 0; i < pairs; ++i)
        streams.push_back(mixed ? (i % 3 && i < 3 * sections[size_t(i % 3)] ? size_t(i % 3) : 0)
                                : size_t(i >= sections[0]) + size_t(i >= sections[0] + sections[1]));
    return streams;
}

/// For each token the row of the cache that its three positions make together.
template <class W>
Tensor mixedRows(const StepContext& s, const Tensor& cache, const std::vector<int64_t>& positions,
    const std::vector<size_t>& streams, int64_t batch, int64_t tokens)
{
    const Tensor from = asWork<W>(s, cache);
    const int64_t pairs = from.dim(1), all = batch * tokens;
    Tensor y = s.allocate(dtypeOf<W>(), { batch, tokens, pairs });
    W* to = y.template fill<W>().data();
    for (int64_t t = 0; t < all; ++t)
        for (int64_t i = 0; i < pairs; ++i) {
            const int64_t row = positions[streams[size_t(i)] * size_t(all) + size_t(t)];
            *to++ = from.template data<W>()[size_t(row * pairs + i)];
        }
    return y;
}

/// x, positions (3 x batch x tokens), cosines, sines.
Status runManyRotary(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 4));
    const Tensor &x = s.in(0), &given = s.in(1), &cosines = s.in(2), &sines = s.in(3);
    QS_CHECK(needFloat(x.dtype()));
    if ((x.rank() != 3 && x.rank() != 4) || cosines.rank() != 2 || cosines.shape() != sines.shape())
        return badInput("an input of shape " + shapeText(x.shape()) + " and caches of shape "
            + shapeText(cosines.shape()) + " do not fit");
    const int64_t batch = x.dim(0), tokens = x.dim(x.rank() - 2);
    if (!isInteger(given.dtype()) || given.shape() != Shape { 3, batch, tokens })
        return badInput("positions of shape " + shapeText(given.shape()) + " do not fit the input");
    const std::vector<int64_t> positions = toInts(given);
    for (int64_t p : positions)
        if (p < 0 || p >= cosines.dim(0))
            return badInput(
                "position " + std::to_string(p) + " is outside caches of " + std::to_string(cosines.dim(0)) + " rows");
    QS_TRY(const auto streams, streamOfPairs(node, cosines.dim(1)));
    const DType work = attentionWork(x.dtype(), mode);
    const auto rows = [&](const Tensor& cache) {
        return work == DType::Float64 ? mixedRows<double>(s, cache, positions, streams, batch, tokens)
                                      : mixedRows<float>(s, cache, positions, streams, batch, tokens);
    };
    const Tensor wide = asWorkType(s, x, work);
    QS_TRY(Tensor y, rotate(s, rotarySettings(node), wide, rows(cosines), rows(sines), nullptr, mode));
    s.setOutput(0, asStored(s, std::move(y), x.dtype()));
    return {};
}

Result<LoweredNode> lowerManyRotary(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    if (c.node.attributes.integer("is_packed_batching", 0))
        return badInput("packed batches are not supported");
    return copying<runManyRotary>(c);
}

Result<LoweredNode> lowerPackedRotary(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    if (c.node.attributes.integer("is_packed_batching", 0))
        return badInput("packed batches are not supported");
    return LoweredNode { [settings = rotarySettings(c.node), mode = c.mode](
                             StepContext& s) { return runOwnRotary(settings, mode, s); },
        c.mode == KernelMode::Reference ? "reference" : "rotary" };
}

} // namespace

void lowerRotaryEmbedding(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "RotaryEmbedding", lowerPackedRotary);
    r.add(kMicrosoftDomain, "MRotaryEmbedding", lowerManyRotary);
}

} // namespace qs
