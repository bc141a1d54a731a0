// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/recurrent/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/product/matmul.h"

#include <algorithm>

namespace qs {

namespace {

/// Weights of one direction: packed once when they are constant.
struct DirectionProducts {
    std::unique_ptr<FloatMatmul> input, state, third;
};

struct RecurrentStep {
    RecurrentNode node;
    KernelMode mode = KernelMode::Fast;
    Tensor w, r; ///< constant weights as float32; invalid when they are computed
    std::vector<DirectionProducts> products;

    Status run(StepContext& c) const;
    Status runReference(StepContext& c, const RecurrentSizes& sizes) const;
    RecurrentProducts productsOf(
        const StepContext& c, size_t d, const RecurrentRun<float>& run, const float* w, const float* r) const;
    /// A GRU that resets before its product multiplies the third gate apart.
    bool splits() const { return node.kind == CellKind::Gru && !node.cells[0].linearBeforeReset; }
};

/// c = a * b^T with b of `columns` x `inner`.
std::function<bool(const float*, float*)> preparedProduct(
    const StepContext& c, FloatMatmul& matmul, int64_t rows, int64_t inner, int64_t columns, const float* b)
{
    const ProductShape shape { rows, inner, columns, false, true };
    if (rows == 0 || inner == 0 || columns == 0)
        return [n = rows * columns](const float*, float* sums) {
            std::fill_n(sums, n, 0.0f);
            return true;
        };
    const auto prepared = matmul.prepare(shape);
    if (!prepared)
        return [shape, b](const float* a, float* sums) {
            for (int64_t i = 0; i < shape.rows; ++i)
                for (int64_t j = 0; j < shape.columns; ++j) {
                    double sum = 0;
                    for (int64_t k = 0; k < shape.inner; ++k)
                        sum += double(a[i * shape.inner + k]) * double(b[j * shape.inner + k]);
                    sums[i * shape.columns + j] = float(sum);
                }
            return true;
        };
    Tensor scratch = c.allocate(DType::UInt8, { static_cast<int64_t>(prepared->scratchBytes()) });
    return [prepared, b, scratch](const float* a, float* sums) mutable {
        return prepared->run(a, b, sums, scratch.fill<std::byte>().data());
    };
}

RecurrentProducts RecurrentStep::productsOf(
    const StepContext& c, size_t d, const RecurrentRun<float>& run, const float* weights, const float* recurrent) const
{
    const int64_t width = gateCount(node.kind) * run.hidden;
    const int64_t stateWidth = splits() ? 2 * run.hidden : width;
    const float* wd = weights + int64_t(d) * width * run.input;
    const float* rd = recurrent + int64_t(d) * width * run.hidden;
    const float* third = rd + stateWidth * run.hidden;
    const DirectionProducts& packed = products[d];
    RecurrentProducts p;
    p.input = preparedProduct(c, *packed.input, run.length * run.batch, run.input, width, wd);
    p.state = preparedProduct(c, *packed.state, run.batch, run.hidden, stateWidth, rd);
    if (splits())
        p.third = preparedProduct(c, *packed.third, run.batch, run.hidden, run.hidden, third);
    return p;
}

Status RecurrentStep::runReference(StepContext& c, const RecurrentSizes& s) const
{
    QS_TRY(RecurrentData<double> data, RecurrentData<double>::load(node, c, s));
    const Tensor wide = asWork<double>(c, c.in(1)), recurrent = asWork<double>(c, c.in(2));
    const int64_t width = gateCount(node.kind) * s.hidden;
    for (size_t d = 0; d < node.directions(); ++d)
        recurrentReference(node.cells[d], data.direction(d), wide.data<double>().data() + int64_t(d) * width * s.input,
            recurrent.data<double>().data() + int64_t(d) * width * s.hidden);
    data.finish(node, c);
    return {};
}

Status RecurrentStep::run(StepContext& c) const
{
    const Tensor &x = c.in(0), &weights = c.in(1), &recurrent = c.in(2);
    const int64_t gates = gateCount(node.kind);
    for (const Tensor* t : { &weights, &recurrent })
        if (!isComputedFloat(t->dtype()))
            return unsupportedType(t->dtype());
    if (weights.rank() != 3 || recurrent.rank() != 3 || recurrent.dim(1) != gates * recurrent.dim(2)
        || weights.dim(1) != recurrent.dim(1) || weights.dim(0) != recurrent.dim(0))
        return badInput("weights of shape " + shapeText(weights.shape()) + " and " + shapeText(recurrent.shape())
            + " do not fit each other");
    QS_TRY(const RecurrentSizes sizes, recurrentSizes(node, x, weights.dim(2), recurrent.dim(2), weights.dim(0)));
    if (mode == KernelMode::Reference || x.dtype() == DType::Float64)
        return runReference(c, sizes);
    const Tensor wf = w.valid() ? w : asWork<float>(c, weights), rf = r.valid() ? r : asWork<float>(c, recurrent);
    return runRecurrentFast(node, c, sizes, [&](size_t d, const RecurrentRun<float>& one) {
        return productsOf(c, d, one, wf.data<float>().data(), rf.data<float>().data());
    });
}

/// Float32 copy of a constant weight of rank 3 with the right number of directions; else invalid.
Tensor constantWeight(const Tensor* t, size_t directions)
{
    if (!t || !isComputedFloat(t->dtype()) || t->rank() != 3 || t->dim(0) != int64_t(directions))
        return {};
    return constantFloats(*t);
}

template <CellKind kKind> Result<LoweredNode> lowerRecurrent(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    auto step = std::make_shared<RecurrentStep>();
    QS_TRY(step->node, recurrentNode(context.node, kKind));
    step->mode = context.mode;
    const size_t directions = step->node.directions();
    if (context.mode == KernelMode::Fast) {
        step->w = constantWeight(context.constant(1), directions);
        step->r = constantWeight(context.constant(2), directions);
    }
    const auto part = [&](const Tensor& t, size_t d) {
        return t.valid() ? t.data<float>().data() + int64_t(d) * t.dim(1) * t.dim(2) : nullptr;
    };
    for (size_t d = 0; d < directions; ++d) {
        const float *w = part(step->w, d), *r = part(step->r, d);
        // The third gate's rows are the last third.
        const float* third = r ? r + step->r.dim(1) / 3 * 2 * step->r.dim(2) : nullptr;
        step->products.push_back({ std::make_unique<FloatMatmul>(w), std::make_unique<FloatMatmul>(r),
            step->splits() ? std::make_unique<FloatMatmul>(third) : nullptr });
    }
    return LoweredNode { [step](StepContext& c) { return step->run(c); },
        context.mode == KernelMode::Reference    ? "reference"
            : step->w.valid() && step->r.valid() ? "recurrent, packed weights"
                                                 : "recurrent" };
}

} // namespace

void lowerRecurrent(LoweringRegistry& r)
{
    r.add("", "RNN", lowerRecurrent<CellKind::Rnn>);
    r.add("", "GRU", lowerRecurrent<CellKind::Gru>);
    r.add("", "LSTM", lowerRecurrent<CellKind::Lstm>);
    r.add(kMicrosoftDomain, "DynamicQuantizeLSTM", lowerDynamicQuantizeLstm);
}

} // namespace qs
