// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"
#include "core/ops/window.h"

namespace qs {

namespace {

/// One output size; where the input size is a name that the window keeps (stride 1, padded), the name stays.
Result<Dim> outputDim(const InferContext& c, const WindowAttributes& attributes, WindowKind kind, size_t i, size_t rank,
    const Dim& in, const Dim& kernel)
{
    if (!kernel.known())
        return Dim {};
    if (in.known()) {
        QS_TRY(const WindowAxis axis, windowAxis(c.node, attributes, kind, i, rank, in.value, kernel.value));
        return Dim { axis.out, {} };
    }
    constexpr int64_t kProbe = 1 << 20;
    QS_TRY(const WindowAxis axis, windowAxis(c.node, attributes, kind, i, rank, kProbe, kernel.value));
    QS_TRY(const WindowAxis next, windowAxis(c.node, attributes, kind, i, rank, kProbe + 1, kernel.value));
    return axis.out == kProbe && next.out == kProbe + 1 ? in : Dim {};
}

Status checkRank(const InferContext& c, const Dims& dims, size_t least)
{
    if (dims.size() < least)
        return inferIssue(c.node,
            "the input has rank " + std::to_string(dims.size()) + ", " + c.node.opType + " needs at least "
                + std::to_string(least));
    return {};
}

Status checkWeights(const InferContext& c, const Dims& x, const Dims& w, WindowKind kind)
{
    if (x.size() != w.size())
        return inferIssue(c.node, "weights " + dimsText(w) + " do not fit an input " + dimsText(x));
    const int64_t group = c.node.attributes.integer("group", 1);
    if (group < 1 || group > INT32_MAX)
        return inferIssue(c.node, "group is " + std::to_string(group));
    const Dim& channels = x[1];
    const bool transposed = kind == WindowKind::ConvTranspose;
    const Dim& per = transposed ? w[0] : w[1];
    const int64_t factor = transposed ? 1 : group;
    if (channels.known() && per.known() && (productOf(per, factor).value != channels.value || channels.value % group))
        return inferIssue(c.node,
            "an input of " + std::to_string(channels.value) + " channels does not fit weights " + dimsText(w) + " in "
                + std::to_string(group) + " groups");
    if (!transposed && w[0].known() && w[0].value % group)
        return inferIssue(
            c.node, std::to_string(w[0].value) + " filters cannot form " + std::to_string(group) + " groups");
    return {};
}

template <WindowKind kKind> Result<std::vector<Fact>> inferConv(const InferContext& c)
{
    const Fact* x = c.input(0);
    const Fact* w = c.input(1);
    if (!x || !w)
        return inferIssue(c.node, c.node.opType + " needs an input and weights");
    std::vector<Fact> out { fact(x->dtype) };
    const Dims* known = x->dims ? &*x->dims : w->dims ? &*w->dims : nullptr;
    if (!known)
        return out;
    QS_CHECK(checkRank(c, *known, 3));
    Dims dims(known->size());
    QS_TRY(const WindowAttributes attributes, windowAttributes(c.node));
    if (x->dims)
        dims[0] = (*x->dims)[0];
    if (w->dims && x->dims)
        QS_CHECK(checkWeights(c, *x->dims, *w->dims, kKind));
    if (w->dims) {
        dims[1] = (*w->dims)[kKind == WindowKind::ConvTranspose ? 1 : 0];
        if (kKind == WindowKind::ConvTranspose && dims[1].known())
            dims[1] = productOf(dims[1], c.node.attributes.integer("group", 1));
    }
    const size_t rank = dims.size() - 2;
    if (!attributes.kernel.empty() && attributes.kernel.size() != rank)
        return inferIssue(c.node,
            "kernel_shape has " + std::to_string(attributes.kernel.size()) + " sizes where " + std::to_string(rank)
                + " are needed");
    for (size_t i = 0; i < rank && x->dims; ++i) {
        Dim kernel = w->dims ? (*w->dims)[i + 2] : Dim {};
        if (!kernel.known() && !attributes.kernel.empty())
            kernel = Dim { attributes.kernel[i], {} };
        QS_TRY(dims[i + 2], outputDim(c, attributes, kKind, i, rank, (*x->dims)[i + 2], kernel));
    }
    out[0].dims = std::move(dims);
    return out;
}

Result<std::vector<Fact>> inferPool(const InferContext& c)
{
    const Fact* x = c.input(0);
    if (!x)
        return inferIssue(c.node, c.node.opType + " needs an input");
    std::vector<Fact> out { fact(x->dtype) };
    QS_TRY(const WindowAttributes attributes, windowAttributes(c.node));
    if (attributes.kernel.empty())
        return inferIssue(c.node, "the attribute kernel_shape is missing");
    const size_t rank = attributes.kernel.size();
    if (x->dims) {
        if (x->dims->size() != rank + 2)
            return inferIssue(c.node,
                "an input " + dimsText(*x->dims) + " does not fit a kernel of " + std::to_string(rank) + " sizes");
        Dims dims { (*x->dims)[0], (*x->dims)[1] };
        for (size_t i = 0; i < rank; ++i) {
            const Dim kernel { attributes.kernel[i], {} };
            QS_TRY(Dim d, outputDim(c, attributes, WindowKind::Pool, i, rank, (*x->dims)[i + 2], kernel));
            dims.push_back(std::move(d));
        }
        out[0].dims = std::move(dims);
    }
    if (c.node.opType == "MaxPool" && c.node.outputs.size() > 1)
        out.push_back(fact(DType::Int64, out[0].dims));
    return out;
}

Result<std::vector<Fact>> inferGlobalPool(const InferContext& c)
{
    const Fact* x = c.input(0);
    if (!x)
        return inferIssue(c.node, c.node.opType + " needs an input");
    std::vector<Fact> out { fact(x->dtype, x->dims) };
    if (!x->dims)
        return out;
    QS_CHECK(checkRank(c, *x->dims, 2));
    for (size_t i = 2; i < x->dims->size(); ++i)
        (*out[0].dims)[i] = Dim { 1, {} };
    return out;
}

/// Elements of `counted` times what one of them costs: weights of one filter.
std::optional<int64_t> convMacs(const Fact& counted, const Fact* w)
{
    if (!w || !w->dims || !counted.dims)
        return std::nullopt;
    const auto weights = toShape(*w->dims);
    const auto elements = toShape(*counted.dims);
    if (!weights || !elements || weights->empty() || (*weights)[0] == 0)
        return std::nullopt;
    const auto weightCount = elementCount(*weights);
    const auto count = elementCount(*elements);
    int64_t macs = 0;
    if (!weightCount || !count || __builtin_mul_overflow(*count, *weightCount / (*weights)[0], &macs))
        return std::nullopt;
    return macs;
}

std::optional<int64_t> forwardMacs(const InferContext& c, std::span<const Fact> outputs)
{
    return outputs.empty() ? std::nullopt : convMacs(outputs[0], c.input(1));
}

std::optional<int64_t> transposedMacs(const InferContext& c, std::span<const Fact>)
{
    return c.input(0) ? convMacs(*c.input(0), c.input(1)) : std::nullopt;
}

} // namespace

void registerConvOps(OpRegistry& r)
{
    r.add({ "", "Conv", inferConv<WindowKind::Conv>, Tolerance::Accumulation, forwardMacs });
    r.add({ "", "ConvTranspose", inferConv<WindowKind::ConvTranspose>, Tolerance::Accumulation, transposedMacs });
    r.add({ "", "MaxPool", inferPool, Tolerance::Exact });
    r.add({ "", "AveragePool", inferPool, Tolerance::Accumulation });
    r.add({ "", "LpPool", inferPool, Tolerance::Accumulation });
    r.add({ "", "GlobalAveragePool", inferGlobalPool, Tolerance::Accumulation });
    r.add({ "", "GlobalMaxPool", inferGlobalPool, Tolerance::Exact });
    r.add({ "", "GlobalLpPool", inferGlobalPool, Tolerance::Accumulation });
}

} // namespace qs
