// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/reduce/norm.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// EmbedLayerNormalization and its quantized form: the sum of rows of up to three tables, normalized. Source: ONNX
/// Runtime's operator documentation.
namespace qs {

namespace {

/// A table of rows, or a vector (one row), of floats or of codes with a scale and a zero point.
struct Table {
    Tensor data;
    double scale = 1, zeroPoint = 0;
    bool valid() const { return data.valid(); }
    int64_t rows() const { return data.rank() == 2 ? data.dim(0) : 1; }
};

/// Slots of the inputs; -1: there is none. Scales and zero points stand in the order word, position, segment, gamma,
/// beta.
struct EmbedSlots {
    size_t words = 2, positions = 3, segments = 4, gamma = 5, beta = 6, mask = 7;
    int positionIds = 8, scales = -1, zeroPoints = -1;
};
constexpr EmbedSlots kPlain {};
constexpr EmbedSlots kQuantized { 2, 3, 4, 5, 6, 7, -1, 8, 13 };

struct EmbedStep {
    EmbedSlots slots;
    KernelMode mode;
    double epsilon;
};

Result<Table> readTable(const EmbedStep& step, const StepContext& s, size_t slot, size_t index)
{
    Table t;
    if (!s.input(slot))
        return t;
    t.data = s.in(slot);
    if (step.slots.scales < 0) {
        QS_CHECK(needFloat(t.data.dtype()));
        return t;
    }
    if (!isInteger(t.data.dtype()))
        return unsupportedType(t.data.dtype());
    const Tensor* scale = s.input(static_cast<size_t>(step.slots.scales) + index);
    const Tensor* zero = s.input(static_cast<size_t>(step.slots.zeroPoints) + index);
    if (!scale || scale->count() != 1 || (zero && zero->count() != 1))
        return badInput("a table needs one scale and one zero point");
    t.scale = elementAsDouble(*scale, 0);
    t.zeroPoint = zero ? elementAsDouble(*zero, 0) : 0;
    return t;
}

/// Adds row `index` to `out`.
template <class W> Status addRow(const Table& t, int64_t index, std::vector<W>& row, W* out)
{
    if (index < 0 || index >= t.rows())
        return badInput(
            "index " + std::to_string(index) + " is outside a table of " + std::to_string(t.rows()) + " rows");
    const size_t n = row.size();
    loadElements(t.data.dtype(), t.data.bytes().data(), static_cast<size_t>(index) * n, row.data(), n);
    for (size_t i = 0; i < n; ++i)
        out[i] += (row[i] - static_cast<W>(t.zeroPoint)) * static_cast<W>(t.scale);
    return {};
}

struct EmbedTables {
    Table words, positions, segments, gamma, beta;
    int64_t hidden = 0;
};

Result<EmbedTables> readTables(const EmbedStep& step, const StepContext& s)
{
    EmbedTables t;
    QS_TRY(t.words, readTable(step, s, step.slots.words, 0));
    QS_TRY(t.positions, readTable(step, s, step.slots.positions, 1));
    QS_TRY(t.segments, readTable(step, s, step.slots.segments, 2));
    QS_TRY(t.gamma, readTable(step, s, step.slots.gamma, 3));
    QS_TRY(t.beta, readTable(step, s, step.slots.beta, 4));
    if (!t.words.valid() || !t.positions.valid() || !t.gamma.valid() || !t.beta.valid() || t.words.data.rank() != 2)
        return badInput("a table of embeddings or a parameter is missing");
    t.hidden = t.words.data.dim(1);
    for (const Table* other : { &t.positions, &t.segments, &t.gamma, &t.beta })
        if (other->valid()
            && (other->data.rank() < 1 || other->data.rank() > 2 || other->data.shape().back() != t.hidden))
            return badInput("a table of shape " + shapeText(other->data.shape()) + " does not fit rows of "
                + std::to_string(t.hidden) + " elements");
    return t;
}

Status checkIds(const StepContext& s)
{
    const Tensor& ids = s.in(0);
    if (ids.rank() != 2 || !isInteger(ids.dtype()))
        return badInput("the words must be integers, batch x sequence");
    if (s.input(1) && (s.in(1).shape() != ids.shape() || !isInteger(s.in(1).dtype())))
        return badInput("the segments do not fit the words");
    return {};
}

/// Number of ones in each row of the mask; 0 without a mask.
Result<Tensor> maskIndex(const StepContext& s, const Tensor* mask, int64_t batch)
{
    Tensor index = s.allocate(DType::Int32, { batch });
    std::ranges::fill(index.fill<int32_t>(), 0);
    if (!mask)
        return index;
    if (mask->shape() != s.in(0).shape() || !isInteger(mask->dtype()))
        return badInput("the mask does not fit the words");
    const std::vector<int64_t> values = toInts(*mask);
    const size_t length = values.size() / static_cast<size_t>(std::max<int64_t>(batch, 1));
    for (size_t i = 0; i < values.size(); ++i)
        index.fill<int32_t>()[i / length] += values[i] == 1;
    return index;
}

template <class W> Result<Tensor> sumRows(const EmbedStep& step, const StepContext& s, const EmbedTables& t)
{
    const Tensor& ids = s.in(0);
    const int64_t length = ids.dim(1);
    const Tensor* given = step.slots.positionIds >= 0 ? s.input(static_cast<size_t>(step.slots.positionIds)) : nullptr;
    if (given && given->count() != ids.count() && given->count() != length)
        return badInput("position ids of shape " + shapeText(given->shape()) + " do not fit the words");
    if (t.segments.valid() && !s.input(1))
        return badInput("there is a table of segments, but no segments");
    Tensor sum = s.allocate(dtypeOf<W>(), { ids.dim(0), length, t.hidden });
    std::ranges::fill(sum.fill<W>(), W(0));
    std::vector<W> row(static_cast<size_t>(t.hidden));
    for (int64_t i = 0; i < ids.count(); ++i) {
        W* out = sum.fill<W>().data() + i * t.hidden;
        const int64_t position = given ? elementAsInt(*given, i % given->count()) : i % length;
        QS_CHECK(addRow(t.words, elementAsInt(ids, i), row, out));
        QS_CHECK(addRow(t.positions, position, row, out));
        if (t.segments.valid()) {
            QS_CHECK(addRow(t.segments, elementAsInt(s.in(1), i), row, out));
        }
    }
    return sum;
}

template <class W> Status embedAs(const EmbedStep& step, StepContext& s, const EmbedTables& t)
{
    QS_TRY(const Tensor sum, sumRows<W>(step, s, t));
    const auto hidden = static_cast<size_t>(t.hidden);
    std::vector<W> row(hidden), gamma(hidden, W(0)), beta(hidden, W(0));
    QS_CHECK(addRow(t.gamma, 0, row, gamma.data()));
    QS_CHECK(addRow(t.beta, 0, row, beta.data()));
    BlockNorm n;
    n.blocks = s.in(0).count();
    n.size = n.scales = t.hidden;
    n.epsilon = step.epsilon;
    Tensor y = s.allocate(dtypeOf<W>(), sum.shape());
    bool done = sum.count() == 0;
    if constexpr (std::is_same_v<W, double>)
        if (!done && step.mode == KernelMode::Reference) {
            normalizeBlocksReference(
                n, sum.data<double>().data(), gamma.data(), beta.data(), y.fill<double>().data(), nullptr, nullptr);
            done = true;
        }
    if (!done)
        normalizeBlocks<W>(n, sum.data<W>().data(), gamma.data(), beta.data(), y.fill<W>().data(), nullptr, nullptr);
    const DType type = step.slots.scales < 0 ? t.words.data.dtype() : DType::Float32;
    s.setOutput(0, fromWork<W>(s, std::move(y), type));
    if (s.outputCount() > 2)
        s.setOutput(2, fromWork<W>(s, sum, type));
    return {};
}

template <bool kIsQuantized> Result<LoweredNode> lowerEmbed(const LowerContext& c)
{
    const EmbedStep step { kIsQuantized ? kQuantized : kPlain, c.mode,
        double(c.node.attributes.real("epsilon", 1e-12f)) };
    return LoweredNode { [step](StepContext& s) -> Status {
                            QS_CHECK(needInputs(s, 1));
                            QS_CHECK(checkIds(s));
                            QS_TRY(const EmbedTables t, readTables(step, s));
                            QS_CHECK(withFloatWork(t.words.data.dtype(), step.mode,
                                [&](auto w) { return embedAs<decltype(w)>(step, s, t); }));
                            if (s.outputCount() > 1) {
                                QS_TRY(Tensor index, maskIndex(s, s.input(step.slots.mask), s.in(0).dim(0)));
                                s.setOutput(1, std::move(index));
                            }
                            return {};
                        },
        c.mode == KernelMode::Reference ? "reference" : "embedding" };
}

} // namespace

void lowerMicrosoftEmbedding(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "EmbedLayerNormalization", lowerEmbed<false>);
    r.add(kMicrosoftDomain, "QEmbedLayerNormalization", lowerEmbed<true>);
}

} // namespace qs
