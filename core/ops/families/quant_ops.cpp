// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/op.h"
#include "core/ops/window.h"

#include <algorithm>

namespace qs {

namespace {

/// A known scale must be one number, or fit the axis (or the blocks along it).
Status checkScale(const InferContext& c)
{
    const Fact& x = c.inputs[0];
    const Fact& scale = c.inputs[1];
    if (!x.dims || !scale.dims || scale.dims->empty())
        return {};
    const auto count = dimProduct(*scale.dims);
    const int64_t block = c.node.attributes.integer("block_size", 0);
    if (!count || *count == 1)
        return {};
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 1), x.dims->size()));
    const Dim& size = (*x.dims)[axis];
    if (block > 0) {
        const bool fits = scale.dims->size() == x.dims->size()
            && (!size.known() || !(*scale.dims)[axis].known()
                || (*scale.dims)[axis].value == size.value / block + (size.value % block != 0));
        if (!fits)
            return inferIssue(c.node,
                "the scale's shape " + dimsText(*scale.dims) + " does not fit blocks of " + std::to_string(block)
                    + " along axis " + std::to_string(axis) + " of " + dimsText(*x.dims));
    } else if (scale.dims->size() != 1 || (size.known() && size.value != *count)) {
        return inferIssue(c.node,
            "the scale's shape " + dimsText(*scale.dims) + " does not fit axis " + std::to_string(axis) + " of "
                + dimsText(*x.dims));
    }
    return {};
}

Result<std::vector<Fact>> inferQuantize(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_CHECK(checkScale(c));
    const auto attribute = static_cast<DType>(c.node.attributes.integer("output_dtype", 0));
    DType type = attribute == DType::Undefined ? DType::UInt8 : attribute;
    if (const Fact* zeroPoint = c.input(2))
        type = zeroPoint->dtype;
    return one(fact(type, c.inputs[0].dims));
}

Result<std::vector<Fact>> inferDequantize(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_CHECK(checkScale(c));
    const auto attribute = static_cast<DType>(c.node.attributes.integer("output_dtype", 0));
    return one(fact(attribute == DType::Undefined ? c.inputs[1].dtype : attribute, c.inputs[0].dims));
}

Result<std::vector<Fact>> inferDynamicQuantize(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return std::vector<Fact> { fact(DType::UInt8, c.inputs[0].dims), fact(DType::Float32, Dims {}),
        fact(DType::UInt8, Dims {}) };
}

/// QLinearAdd and QLinearMul: A and B are inputs 0 and 3.
Result<std::vector<Fact>> inferBinary(const InferContext& c)
{
    if (c.inputs.size() < 7)
        return inferIssue(c.node, "needs at least 7 inputs");
    const Fact* operands[] = { &c.inputs[0], &c.inputs[3] };
    QS_TRY(auto dims, broadcastDims(c.node, operands));
    return one(fact(c.inputs[0].dtype, std::move(dims)));
}

/// QLinearWhere: condition, X and Y are inputs 0, 1 and 4.
Result<std::vector<Fact>> inferQLinearWhere(const InferContext& c)
{
    if (c.inputs.size() < 9)
        return inferIssue(c.node, "needs 9 inputs");
    const Fact* operands[] = { &c.inputs[0], &c.inputs[1], &c.inputs[4] };
    QS_TRY(auto dims, broadcastDims(c.node, operands));
    return one(fact(c.inputs[1].dtype, std::move(dims)));
}

/// QLinearConcat: output scale and zero point, then triples (X, scale, zero point).
Result<std::vector<Fact>> inferQLinearConcat(const InferContext& c)
{
    if (c.inputs.size() < 5)
        return inferIssue(c.node, "needs at least 5 inputs");
    Fact out = fact(c.inputs[2].dtype, c.inputs[2].dims);
    if (!out.dims)
        return one(std::move(out));
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), out.dims->size()));
    for (size_t i = 5; i < c.inputs.size(); i += 3) {
        const auto& dims = c.inputs[i].dims;
        if (!dims)
            return one(fact(out.dtype));
        if (dims->size() != out.dims->size())
            return inferIssue(c.node, "concatenates " + dimsText(*out.dims) + " and " + dimsText(*dims));
        Dim& sum = (*out.dims)[axis];
        sum = sumOf(sum, (*dims)[axis]);
    }
    return one(std::move(out));
}

/// First spatial axis of a pool; with channels_last the channels are the last axis.
size_t firstSpatial(const Node& node) { return node.attributes.integer("channels_last", 0) ? 1 : 2; }

Result<std::vector<Fact>> inferAveragePool(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Fact out = fact(c.inputs[0].dtype, c.inputs[0].dims);
    if (!out.dims)
        return one(std::move(out));
    QS_TRY(const WindowAttributes attributes, windowAttributes(c.node));
    const size_t rank = out.dims->size() < 2 ? 0 : out.dims->size() - 2;
    if (rank == 0 || attributes.kernel.size() != rank)
        return inferIssue(c.node, "kernel_shape does not fit the input's shape " + dimsText(*out.dims));
    for (size_t i = 0; i < rank; ++i) {
        Dim& d = (*out.dims)[firstSpatial(c.node) + i];
        if (!d.known()) {
            d = unknownDim();
            continue;
        }
        QS_TRY(const WindowAxis axis,
            windowAxis(c.node, attributes, WindowKind::Pool, i, rank, d.value, attributes.kernel[i]));
        d = knownDim(axis.out);
    }
    return one(std::move(out));
}

Result<std::vector<Fact>> inferGlobalAveragePool(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Fact out = fact(c.inputs[0].dtype, c.inputs[0].dims);
    for (size_t i = 0; out.dims && i + 2 < out.dims->size(); ++i)
        (*out.dims)[firstSpatial(c.node) + i] = knownDim(1);
    return one(std::move(out));
}

} // namespace

void registerQuantOps(OpRegistry& r)
{
    for (const char* domain : { "", kMicrosoftDomain }) {
        r.add({ domain, "QuantizeLinear", inferQuantize, Tolerance::OneStep });
        r.add({ domain, "DequantizeLinear", inferDequantize, Tolerance::OneUlp });
    }
    r.add({ "", "DynamicQuantizeLinear", inferDynamicQuantize, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearAdd", inferBinary, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearMul", inferBinary, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearSigmoid", inferSame, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearLeakyRelu", inferSame, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearSoftmax", inferSame, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearWhere", inferQLinearWhere, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearConcat", inferQLinearConcat, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearAveragePool", inferAveragePool, Tolerance::OneStep });
    r.add({ kMicrosoftDomain, "QLinearGlobalAveragePool", inferGlobalAveragePool, Tolerance::OneStep });
}

} // namespace qs
