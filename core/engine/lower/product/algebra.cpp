// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

#include "core/graph/domains.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/kernels/product/einsum.h"
#include "core/kernels/product/matmul.h"
#include "core/kernels/product/square_matrices.h"
#include "core/ops/equation.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

using LabelList = std::vector<int>;

bool has(const LabelList& list, int label) { return std::ranges::find(list, label) != list.end(); }

/// A dense tensor with a label for each axis.
struct Labelled {
    Tensor tensor;
    LabelList labels;
};

/// The sum of products of one run, in W: float, double or int64_t.
template <class W> class Contraction {
public:
    Contraction(const StepContext& c, std::vector<int64_t> sizes, FloatMatmul& products)
        : m_context(c)
        , m_sizes(std::move(sizes))
        , m_products(products)
    {
    }

    /// Operands are joined from left to right, and each label is summed as soon as nobody else has it. An invalid
    /// tensor: there is no fast kernel.
    Result<Tensor> run(std::vector<Labelled> operands, const LabelList& output)
    {
        Labelled all = std::move(operands.front());
        QS_TRY(all, summed(all, needed(operands, 1, output)));
        for (size_t k = 1; k < operands.size(); ++k) {
            LabelList wanted = needed(operands, k + 1, output);
            LabelList own = wanted;
            own.insert(own.end(), all.labels.begin(), all.labels.end());
            QS_TRY(const Labelled next, summed(operands[k], own));
            QS_TRY(all, joined(all, next, wanted));
            if (!all.tensor.valid())
                return Tensor();
        }
        return arranged(all, output);
    }

private:
    static LabelList needed(const std::vector<Labelled>& operands, size_t from, const LabelList& output)
    {
        LabelList out = output;
        for (size_t k = from; k < operands.size(); ++k)
            out.insert(out.end(), operands[k].labels.begin(), operands[k].labels.end());
        return out;
    }
    Shape shapeOf(const LabelList& labels) const
    {
        Shape shape;
        for (int label : labels)
            shape.push_back(m_sizes[size_t(label)]);
        return shape;
    }
    int64_t count(const LabelList& labels) const
    {
        int64_t n = 1;
        for (int label : labels)
            n *= m_sizes[size_t(label)];
        return n;
    }
    /// The axes in this order; labels that the operand lacks are repeated, those it has twice are its diagonal.
    Result<Tensor> arranged(const Labelled& x, const LabelList& order) const
    {
        if (x.labels == order)
            return x.tensor;
        const Shape shape = shapeOf(order);
        QS_TRY(Tensor y, allocateChecked(m_context, dtypeOf<W>(), shape));
        const auto strides = rowMajorStrides(x.tensor.shape());
        StridedCopy copy { shape, std::vector<int64_t>(order.size(), 0), rowMajorStrides(shape) };
        for (size_t d = 0; d < order.size(); ++d)
            for (size_t k = 0; k < x.labels.size(); ++k)
                if (x.labels[k] == order[d])
                    copy.from[d] += strides[k];
        copyStrided(KernelMode::Fast, x.tensor, 0, y, 0, copy);
        return y;
    }
    /// Without the labels that nobody wants; each of the others once.
    Result<Labelled> summed(const Labelled& x, const LabelList& wanted) const
    {
        LabelList kept, dropped;
        for (int label : x.labels)
            if (LabelList& list = has(wanted, label) ? kept : dropped; !has(list, label))
                list.push_back(label);
        LabelList order = kept;
        order.insert(order.end(), dropped.begin(), dropped.end());
        QS_TRY(const Tensor from, arranged(x, order));
        if (dropped.empty())
            return Labelled { from, kept };
        Tensor y = m_context.allocate(dtypeOf<W>(), shapeOf(kept));
        const int64_t n = count(dropped);
        using Sum = std::conditional_t<std::is_same_v<W, int64_t>, uint64_t, double>;
        for (int64_t i = 0; i < y.count(); ++i) {
            const auto row = from.data<W>().subspan(size_t(i * n), size_t(n));
            y.fill<W>()[size_t(i)]
                = W(std::accumulate(row.begin(), row.end(), Sum(0), [](Sum a, W b) { return a + Sum(b); }));
        }
        return Labelled { y, kept };
    }
    Result<Labelled> joined(const Labelled& a, const Labelled& b, const LabelList& wanted)
    {
        LabelList batch, inner, left, right;
        for (int label : a.labels)
            (!has(b.labels, label) ? left : has(wanted, label) ? batch : inner).push_back(label);
        for (int label : b.labels)
            if (!has(a.labels, label))
                right.push_back(label);
        const auto chain = [](LabelList first, const LabelList& second, const LabelList& third) {
            first.insert(first.end(), second.begin(), second.end());
            first.insert(first.end(), third.begin(), third.end());
            return first;
        };
        ProductShape shape { count(left), count(inner), count(right) };
        shape.transposeA = a.labels == chain(batch, inner, left);
        shape.transposeB = b.labels == chain(batch, right, inner);
        QS_TRY(const Tensor pa, shape.transposeA ? a.tensor : arranged(a, chain(batch, left, inner)));
        QS_TRY(const Tensor pb, shape.transposeB ? b.tensor : arranged(b, chain(batch, inner, right)));
        Labelled out { {}, chain(batch, left, right) };
        QS_TRY(Tensor y, allocateChecked(m_context, dtypeOf<W>(), shapeOf(out.labels)));
        if (multiply(shape, count(batch), pa, pb, y))
            out.tensor = y;
        return out;
    }
    bool multiply(const ProductShape& s, int64_t batches, const Tensor& a, const Tensor& b, Tensor& y)
    {
        const auto each = [&](auto product) {
            for (int64_t i = 0; i < batches; ++i)
                product(a.data<W>().data() + i * s.rows * s.inner, b.data<W>().data() + i * s.inner * s.columns,
                    y.fill<W>().data() + i * s.rows * s.columns);
        };
        if constexpr (std::is_same_v<W, float>) {
            const auto prepared = m_products.prepare(s);
            if (!prepared)
                return false;
            Tensor scratch = m_context.allocate(DType::UInt8, { int64_t(prepared->scratchBytes()) });
            bool ok = true;
            each([&](const W* pa, const W* pb, W* py) { ok = ok && prepared->run(pa, pb, py, writable(scratch)); });
            return ok;
        } else {
            using Acc = std::conditional_t<std::is_same_v<W, int64_t>, uint64_t, double>;
            each([&](const W* pa, const W* pb, W* py) {
                matmulReference<Acc>(
                    s, reinterpret_cast<const Acc*>(pa), reinterpret_cast<const Acc*>(pb), reinterpret_cast<Acc*>(py));
            });
            return true;
        }
    }

    const StepContext& m_context;
    std::vector<int64_t> m_sizes;
    FloatMatmul& m_products;
};

struct EinsumStep {
    KernelMode mode;
    std::string equation;
    std::shared_ptr<FloatMatmul> products = std::make_shared<FloatMatmul>(nullptr);
};

/// Sizes by label. An axis of size 1 fits every size.
Result<std::vector<int64_t>> labelSizes(const StepContext& c, const Equation& e)
{
    std::vector<int64_t> sizes(e.labels, 1);
    for (size_t k = 0; k < e.operands.size(); ++k)
        for (size_t d = 0; d < e.operands[k].size(); ++d) {
            int64_t& size = sizes[size_t(e.operands[k][d])];
            const int64_t own = c.in(k).dim(d);
            if (own != 1 && size != 1 && own != size)
                return badInput(
                    "its operands have an axis of sizes " + std::to_string(size) + " and " + std::to_string(own));
            size = own == 1 ? size : own;
        }
    return sizes;
}

template <class W>
Labelled operandOf(const StepContext& c, const Equation& e, const std::vector<int64_t>& sizes, size_t k)
{
    // An axis of size 1 that is repeated is the same as none.
    Labelled out { asWork<W>(c, c.in(k)), {} };
    Shape shape;
    for (size_t d = 0; d < e.operands[k].size(); ++d)
        if (const int label = e.operands[k][d]; c.in(k).dim(d) != 1 || sizes[size_t(label)] == 1) {
            out.labels.push_back(label);
            shape.push_back(c.in(k).dim(d));
        }
    out.tensor = out.tensor.reshaped(shape);
    return out;
}

/// False: not in this type.
template <class W>
Result<bool> einsumAs(const EinsumStep& step, StepContext& c, const Equation& e, const std::vector<int64_t>& sizes)
{
    std::vector<Labelled> operands;
    for (size_t k = 0; k < c.inputCount(); ++k)
        operands.push_back(operandOf<W>(c, e, sizes, k));
    Tensor y;
    if (step.mode == KernelMode::Fast) {
        Contraction<W> contraction(c, sizes, *step.products);
        QS_TRY(y, contraction.run(std::move(operands), e.output));
        if (!y.valid())
            return false;
    } else if constexpr (!std::is_same_v<W, float>) {
        using Acc = std::conditional_t<std::is_same_v<W, int64_t>, uint64_t, double>;
        std::vector<LabelledOperand<Acc>> named;
        for (const Labelled& x : operands)
            named.push_back({ reinterpret_cast<const Acc*>(x.tensor.data<W>().data()), x.labels });
        Shape shape;
        for (int label : e.output)
            shape.push_back(sizes[size_t(label)]);
        QS_TRY(y, allocateChecked(c, dtypeOf<W>(), shape));
        sumOfProducts<Acc>(named, sizes, e.output, reinterpret_cast<Acc*>(y.fill<W>().data()));
    }
    c.setOutput(0, fromWork<W>(c, std::move(y), c.in(0).dtype()));
    return true;
}

Status runEinsum(const EinsumStep& step, StepContext& c)
{
    std::vector<size_t> ranks;
    const DType type = c.in(0).dtype();
    for (size_t k = 0; k < c.inputCount(); ++k) {
        if (c.in(k).dtype() != type || !(isComputedFloat(type) || (isInteger(type) && dtypeBits(type) >= 8)))
            return unsupportedType(c.in(k).dtype());
        ranks.push_back(c.in(k).rank());
    }
    QS_TRY(const Equation e, parseEquation(step.equation, ranks));
    QS_TRY(const auto sizes, labelSizes(c, e));
    if (isInteger(type)) {
        QS_CHECK(einsumAs<int64_t>(step, c, e, sizes));
        return {};
    }
    const bool empty = std::ranges::find(sizes, 0) != sizes.end();
    if (step.mode == KernelMode::Fast && type != DType::Float64 && !empty) {
        QS_TRY(const bool done, einsumAs<float>(step, c, e, sizes));
        if (done)
            return {};
    }
    QS_CHECK(einsumAs<double>(step, c, e, sizes));
    return {};
}

Result<LoweredNode> lowerEinsum(const LowerContext& context)
{
    const EinsumStep step { context.mode, context.node.attributes.text("equation", "") };
    return LoweredNode { [step](StepContext& c) { return runEinsum(step, c); },
        context.mode == KernelMode::Reference ? "reference" : "onednn matmul" };
}

Status needSquares(const StepContext& c)
{
    const Tensor& x = c.in(0);
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    if (x.rank() < 2 || x.dim(x.rank() - 1) != x.dim(x.rank() - 2))
        return badInput("an input of shape " + shapeText(x.shape()) + " does not hold square matrices");
    return {};
}

Status runInverse(const Node&, KernelMode mode, StepContext& c)
{
    QS_CHECK(needSquares(c));
    const Tensor& x = c.in(0);
    withFloatWork(x.dtype(), mode, [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x);
        Tensor y = c.allocate(dtypeOf<W>(), x.shape());
        const int64_t n = x.shape().back();
        inverses<W>(n ? x.count() / (n * n) : 0, n, in.data<W>().data(), y.fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

Status runDet(const Node&, KernelMode mode, StepContext& c)
{
    QS_CHECK(needSquares(c));
    const Tensor& x = c.in(0);
    const Shape shape(x.shape().begin(), x.shape().end() - 2);
    withFloatWork(x.dtype(), mode, [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x);
        Tensor y = c.allocate(dtypeOf<W>(), shape);
        determinants<W>(y.count(), x.shape().back(), in.data<W>().data(), y.fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

template <RunFn run> Result<LoweredNode> lowerSquares(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    QS_TRY(LoweredNode lowered, copying<run>(context));
    lowered.kernel = "reference";
    return lowered;
}

} // namespace

void lowerAlgebra(LoweringRegistry& r)
{
    r.add("", "Einsum", lowerEinsum);
    r.add("", "Det", lowerSquares<runDet>);
    r.add(kMicrosoftDomain, "Inverse", lowerSquares<runInverse>);
}

} // namespace qs
