// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"

#include "core/engine/lower/common/movement.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

/// SparseAttention by way of GroupQueryAttention: blocks of keys that are left out are a bias. Source: ONNX Runtime's
/// operator documentation.
namespace qs {

namespace {

/// Inputs, in their order.
enum : size_t {
    kSparseQuery,
    kSparseKey,
    kSparseValue,
    kSparsePastKey,
    kSparsePastValue,
    kSparseRows,
    kSparseColumns,
    kSparseTotal,
    kSparseLengths,
    kSparseCosines,
    kSparseSines
};

/// Which blocks of keys the tokens of a block see, for each layout; heads take the layouts in turn.
struct BlockMask {
    int64_t layouts = 0, blocks = 0, size = 1; ///< tokens of a block
    std::vector<bool> seen; ///< layouts x blocks x blocks

    bool sees(int64_t head, int64_t query, int64_t key) const
    {
        const int64_t row = (head % layouts * blocks + query / size) * blocks;
        return seen[static_cast<size_t>(row + key / size)];
    }
};

Result<BlockMask> blockMask(const Tensor& rows, const Tensor& columns, int64_t size)
{
    const auto bad = [&] {
        return badInput("block_row_indices " + shapeText(rows.shape()) + " and block_col_indices "
            + shapeText(columns.shape()) + " are no block mask");
    };
    if (rows.rank() != 2 || columns.rank() != 2 || rows.dim(0) < 1 || rows.dim(1) < 2 || columns.dim(0) != rows.dim(0)
        || !isInteger(rows.dtype()) || !isInteger(columns.dtype()))
        return bad();
    BlockMask mask { rows.dim(0), rows.dim(1) - 1, size, {} };
    const auto count = elementCount({ mask.layouts, mask.blocks, mask.blocks });
    constexpr int64_t kMost = int64_t(1) << 28;
    if (!count || *count > kMost)
        return bad();
    mask.seen.assign(static_cast<size_t>(*count), false);
    for (int64_t line = 0; line < mask.layouts * mask.blocks; ++line) {
        const int64_t layout = line / mask.blocks, at = layout * rows.dim(1) + line % mask.blocks;
        const int64_t from = elementAsInt(rows, at), to = elementAsInt(rows, at + 1);
        if (from < 0 || to < from || to > columns.dim(1))
            return bad();
        for (int64_t i = from; i < to; ++i) {
            const int64_t block = elementAsInt(columns, layout * columns.dim(1) + i);
            if (block < 0 || block >= mask.blocks)
                return bad();
            mask.seen[static_cast<size_t>(line * mask.blocks + block)] = true;
        }
    }
    return mask;
}

/// What is added to the scores: batch x heads x tokens x total; `before`: tokens before the first query, by sample.
template <class W>
Tensor sparseBias(const StepContext& s, const BlockMask& mask, const std::vector<int64_t>& before, int64_t heads,
    int64_t tokens, int64_t total)
{
    Tensor bias = s.allocate(dtypeOf<W>(), { int64_t(before.size()), heads, tokens, total });
    W* to = bias.template fill<W>().data();
    for (const int64_t first : before)
        for (int64_t h = 0; h < heads; ++h)
            for (int64_t q = 0; q < tokens; ++q)
                for (int64_t k = 0; k < total; ++k)
                    *to++ = mask.sees(h, first + q, k) ? W(0) : -std::numeric_limits<W>::infinity();
    return bias;
}

/// Rows of the buffers that the step did not write stay as they are.
Tensor writtenBuffer(const StepContext& s, const Tensor& past, const Tensor& made, const std::vector<int64_t>& known)
{
    Tensor y = s.allocate(past.dtype(), past.shape());
    const int64_t lines = y.dim(0) * y.dim(1), rows = y.dim(2), width = y.dim(3);
    for (int64_t line = 0; line < lines; ++line) {
        const int64_t count = known[static_cast<size_t>(line / y.dim(1))], at = line * rows * width;
        const auto copy = [&](const Tensor& from, int64_t first, int64_t n) {
            copyStrided(
                KernelMode::Fast, from, at + first * width, y, at + first * width, { { n * width }, { 1 }, { 1 } });
        };
        copy(made, 0, count);
        copy(past, count, rows - count);
    }
    return y;
}

struct SparseStep {
    Node attention; ///< GroupQueryAttention with the attributes that both have
    int64_t heads = 1, blockSize = 16;
    KernelMode mode = KernelMode::Fast;
};

/// What the inputs say of lengths.
struct SparseLengths {
    int64_t tokens = 0, total = 0;
    std::vector<int64_t> known, before; ///< by sample: tokens so far, and those before the first query
};

Result<SparseLengths> sparseLengths(const StepContext& s, const BlockMask& mask)
{
    const Tensor &all = s.in(kSparseTotal), &each = s.in(kSparseLengths), &past = s.in(kSparsePastKey);
    if (!isInteger(all.dtype()) || !isInteger(each.dtype()))
        return unsupportedType(isInteger(all.dtype()) ? each.dtype() : all.dtype());
    SparseLengths l { s.in(kSparseQuery).dim(1), all.count() == 1 ? elementAsInt(all, 0) : 0, toInts(each), {} };
    const bool fits = int64_t(l.known.size()) == s.in(kSparseQuery).dim(0) && l.total >= l.tokens
        && l.total <= past.dim(2) && l.total <= mask.blocks * mask.size;
    for (const int64_t known : l.known) {
        const bool within = fits && known >= 1 && known <= l.total;
        l.before.push_back(!within || l.total == l.tokens ? 0 : known - l.tokens);
        if (!within || l.before.back() < 0)
            return badInput("total_sequence_length or key_total_sequence_lengths does not fit "
                + std::to_string(l.tokens) + " tokens and a cache of " + std::to_string(past.dim(2)));
    }
    return l;
}

Status runSparse(const SparseStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    for (size_t slot : { kSparsePastKey, kSparsePastValue, kSparseRows, kSparseColumns, kSparseTotal, kSparseLengths })
        s.in(slot); // required
    const Tensor& query = s.in(kSparseQuery);
    QS_CHECK(needFloat(query.dtype()));
    if (query.rank() != 3 || s.in(kSparsePastKey).rank() != 4
        || s.in(kSparsePastValue).shape() != s.in(kSparsePastKey).shape())
        return badInput("the queries must be batch x tokens x size, the caches batch x heads x tokens x size");
    QS_TRY(const BlockMask mask, blockMask(s.in(kSparseRows), s.in(kSparseColumns), step.blockSize));
    QS_TRY(const SparseLengths l, sparseLengths(s, mask));
    const auto bias = [&] {
        return query.dtype() == DType::Float64 || step.mode == KernelMode::Reference
            ? sparseBias<double>(s, mask, l.before, step.heads, l.tokens, l.total)
            : sparseBias<float>(s, mask, l.before, step.heads, l.tokens, l.total);
    }();
    Tensor last = s.allocate(DType::Int64, { int64_t(l.known.size()) });
    std::ranges::transform(l.known, last.fill<int64_t>().begin(), [](int64_t n) { return n - 1; });
    const std::vector<const Tensor*> in { &query, s.input(kSparseKey), s.input(kSparseValue), &s.in(kSparsePastKey),
        &s.in(kSparsePastValue), &last, &s.in(kSparseTotal), s.input(kSparseCosines), s.input(kSparseSines), nullptr,
        &bias };
    std::vector<InnerOp::Input> inputs;
    for (const Tensor* t : in)
        inputs.push_back(t ? InnerOp::Input { t->dtype(), {}, true } : InnerOp::Input { DType::Undefined, {}, false });
    QS_TRY(const InnerOp op, InnerOp::make(step.attention, std::move(inputs), step.mode, 3));
    QS_TRY(std::vector<Tensor> made, op.runAll(s, in));
    s.setOutput(0, std::move(made[0]));
    for (size_t i : { 1, 2 })
        if (i < s.outputCount())
            s.setOutput(i, writtenBuffer(s, s.in(kSparsePastKey + i - 1), made[i], l.known));
    return {};
}

Result<LoweredNode> lowerSparse(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(kSparseQuery)));
    const Attributes& a = c.node.attributes;
    SparseStep step { innerNode("GroupQueryAttention", kMicrosoftDomain, 1), a.integer("num_heads", 0),
        a.integer("sparse_block_size", 0), c.mode };
    if (step.heads < 1 || step.blockSize < 1)
        return badInput("num_heads or sparse_block_size is missing");
    for (const char* name : { "num_heads", "kv_num_heads", "do_rotary", "rotary_interleaved" })
        step.attention.attributes.set(name, a.integer(name, 0));
    if (const auto* scale = a.get<float>("scale"))
        step.attention.attributes.set("scale", *scale);
    return LoweredNode { [step](StepContext& s) { return runSparse(step, s); },
        c.mode == KernelMode::Reference ? "reference" : "onednn attention" };
}

} // namespace

void lowerSparseAttention(LoweringRegistry& r) { r.add(kMicrosoftDomain, "SparseAttention", lowerSparse); }

} // namespace qs
