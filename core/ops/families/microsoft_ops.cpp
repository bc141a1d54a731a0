// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/families/parts.h"

#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

#include <algorithm>

/// Operators that ONNX Runtime's optimizer makes of chains of others. Source: its operator documentation.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

/// The node as the operator `type` of ai.onnx.
const Op* plainOp(const InferContext& c, const char* type, Node& plain)
{
    plain = c.node;
    plain.opType = type;
    plain.domain.clear();
    plain.opset = 21;
    return opRegistry().find(plain);
}

/// What ai.onnx says of `type` with the same inputs and attributes.
Result<Facts> inferAs(const InferContext& c, const char* type)
{
    Node plain;
    const Op* op = plainOp(c, type, plain);
    return op->infer({ plain, c.inputs });
}

std::optional<int64_t> macsAs(const InferContext& c, const char* type, std::span<const Fact> outputs)
{
    Node plain;
    const Op* op = plainOp(c, type, plain);
    return op->macs ? op->macs({ plain, c.inputs }, outputs) : std::nullopt;
}

Result<Facts> inferConv(const InferContext& c) { return inferAs(c, "Conv"); }
Result<Facts> inferFusedGemm(const InferContext& c) { return inferAs(c, "Gemm"); }
std::optional<int64_t> convMacs(const InferContext& c, std::span<const Fact> out) { return macsAs(c, "Conv", out); }
std::optional<int64_t> fusedGemmMacs(const InferContext& c, std::span<const Fact> out)
{
    return macsAs(c, "Gemm", out);
}

/// An operand of FusedMatMul as the product sees it: the first axis before the last one, then the last two swapped.
Fact operand(const InferContext& c, size_t slot, const char* batch, const char* swap)
{
    Fact f = c.inputs[slot];
    if (!f.dims || f.dims->size() < 2)
        return f;
    if (c.node.attributes.integer(batch, 0) && f.dims->size() > 2)
        std::rotate(f.dims->begin(), f.dims->begin() + 1, f.dims->end() - 1);
    if (c.node.attributes.integer(swap, 0))
        std::swap(f.dims->back(), (*f.dims)[f.dims->size() - 2]);
    return f;
}

std::vector<Fact> operands(const InferContext& c)
{
    return { operand(c, 0, "transBatchA", "transA"), operand(c, 1, "transBatchB", "transB") };
}

Result<Facts> inferFusedMatMul(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const std::vector<Fact> both = operands(c);
    return inferAs({ c.node, both }, "MatMul");
}

std::optional<int64_t> fusedMatMulMacs(const InferContext& c, std::span<const Fact> outputs)
{
    const std::vector<Fact> both = operands(c);
    return macsAs({ c.node, both }, "MatMul", outputs);
}

/// A plain operator over images whose channels come last.
Result<Facts> inferChannelsLast(const InferContext& c, const char* type)
{
    QS_CHECK(needInputs(c, 1));
    std::vector<Fact> inputs(c.inputs.begin(), c.inputs.end());
    auto& dims = inputs[0].dims;
    if (!dims || dims->size() < 3)
        return Facts { fact(inputs[0].dtype) };
    std::rotate(dims->begin() + 1, dims->end() - 1, dims->end());
    QS_TRY(Facts out, inferAs({ c.node, inputs }, type));
    if (auto& made = out[0].dims; made && made->size() >= 3)
        std::rotate(made->begin() + 1, made->begin() + 2, made->end());
    return Facts { out[0] };
}

Result<Facts> inferNhwcMaxPool(const InferContext& c) { return inferChannelsLast(c, "MaxPool"); }

Result<Facts> inferMicrosoftQLinearConv(const InferContext& c)
{
    return c.node.attributes.integer("channels_last", 0) ? inferChannelsLast(c, "QLinearConv")
                                                         : inferAs(c, "QLinearConv");
}

std::optional<int64_t> qlinearConvMacs(const InferContext& c, std::span<const Fact> outputs)
{
    return macsAs(c, "QLinearConv", outputs);
}

/// Of com.microsoft.nchwc: as the operator of ai.onnx with the same name.
Result<Facts> inferNamesake(const InferContext& c) { return inferAs(c, c.node.opType.c_str()); }

std::optional<int64_t> namesakeMacs(const InferContext& c, std::span<const Fact> outputs)
{
    return macsAs(c, c.node.opType.c_str(), outputs);
}

/// ReorderInput and ReorderOutput: channels move to the second place or the last one, and there are more or fewer.
Result<Facts> inferReorder(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Fact out = fact(c.inputs[0].dtype, c.inputs[0].dims);
    if (!out.dims)
        return Facts { out };
    if (out.dims->size() < 3)
        return inferIssue(c.node, "the input " + dimsText(*out.dims) + " is no image");
    const bool last = c.node.attributes.integer("channels_last", 0) != 0;
    Dims& dims = *out.dims;
    if (c.node.opType == "ReorderOutput") {
        dims[1] = knownDim(c.node.attributes.integer("channels", 0));
        if (last)
            std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
        return Facts { out };
    }
    constexpr int64_t kLargestBlock = 16; // whole blocks of any CPU
    if (last)
        std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    if (!dims[1].known() || dims[1].value % kLargestBlock != 0)
        dims[1] = unknownDim();
    return Facts { out };
}

Result<Facts> inferBlockedUpsample(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Fact out = fact(c.inputs[0].dtype, c.inputs[0].dims);
    const std::vector<int64_t> scales = c.node.attributes.integers("scales");
    if (out.dims && out.dims->size() != scales.size())
        return inferIssue(c.node, std::to_string(scales.size()) + " scales do not fit " + dimsText(*out.dims));
    for (size_t i = 0; out.dims && i < scales.size(); ++i) {
        Dim& dim = (*out.dims)[i];
        if (scales[i] < 1 || (dim.known() && __builtin_mul_overflow(dim.value, scales[i], &dim.value)))
            return inferIssue(c.node, "a scale of " + std::to_string(scales[i]) + " is not possible");
        if (!dim.known() && scales[i] != 1)
            dim = unknownDim();
    }
    return Facts { out };
}

void registerNchwcOps(OpRegistry& r)
{
    r.add({ kNchwcDomain, "Conv", inferNamesake, Tolerance::Accumulation, namesakeMacs });
    r.add({ kNchwcDomain, "MaxPool", inferNamesake, Tolerance::Exact });
    r.add({ kNchwcDomain, "AveragePool", inferNamesake, Tolerance::Accumulation });
    r.add({ kNchwcDomain, "GlobalMaxPool", inferNamesake, Tolerance::Exact });
    r.add({ kNchwcDomain, "GlobalAveragePool", inferNamesake, Tolerance::Accumulation });
    r.add({ kNchwcDomain, "Upsample", inferBlockedUpsample, Tolerance::Accumulation });
    r.add({ kNchwcDomain, "ReorderInput", inferReorder, Tolerance::Exact });
    r.add({ kNchwcDomain, "ReorderOutput", inferReorder, Tolerance::Exact });
}

} // namespace

void registerMicrosoftOps(OpRegistry& r)
{
    r.add({ kMicrosoftDomain, "FusedConv", inferConv, Tolerance::Accumulation, convMacs });
    r.add({ kMicrosoftDomain, "FusedGemm", inferFusedGemm, Tolerance::Accumulation, fusedGemmMacs });
    r.add({ kMicrosoftDomain, "FusedMatMul", inferFusedMatMul, Tolerance::Accumulation, fusedMatMulMacs });
    r.add({ kMicrosoftDomain, "TransposeMatMul", inferFusedMatMul, Tolerance::Accumulation, fusedMatMulMacs });
    r.add({ kMicrosoftDomain, "NhwcMaxPool", inferNhwcMaxPool, Tolerance::Exact });
    r.add({ kMicrosoftDomain, "QLinearConv", inferMicrosoftQLinearConv, Tolerance::OneStep, qlinearConvMacs });
    for (const char* type : { "MoE", "QMoE" })
        r.add({ kMicrosoftDomain, type, inferSame, Tolerance::Accumulation });
    registerBlockQuantizedOps(r);
    registerMicrosoftAttentionOps(r);
    registerNchwcOps(r);
}

} // namespace qs
