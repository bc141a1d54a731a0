// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/families/parts.h"

/// Weights stored as small codes in blocks: MatMulNBits, MatMulBnb4, GatherBlockQuantized of com.microsoft.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

/// Sizes of the right matrix: K and N, the other way round for MatMulBnb4 that does not transpose.
struct ProductSizes {
    int64_t depth, columns;
};

ProductSizes productSizes(const Node& node)
{
    const ProductSizes s { node.attributes.integer("K", 0), node.attributes.integer("N", 0) };
    return node.attributes.integer("transB", 1) ? s : ProductSizes { s.columns, s.depth };
}

Result<Facts> inferBlockProduct(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const ProductSizes s = productSizes(c.node);
    Fact out = c.inputs[0];
    out.value.reset();
    out.ints.reset();
    if (out.dims && !out.dims->empty()) {
        Dim& last = out.dims->back();
        if (last.known() && last.value != s.depth)
            return inferIssue(c.node,
                "an input of shape " + dimsText(*out.dims) + " does not end with " + std::to_string(s.depth)
                    + " elements");
        last = knownDim(s.columns);
    }
    return Facts { std::move(out) };
}

std::optional<int64_t> blockProductMacs(const InferContext& c, std::span<const Fact> outputs)
{
    if (outputs.empty() || !outputs[0].dims)
        return std::nullopt;
    Dims all = *outputs[0].dims;
    all.push_back(knownDim(productSizes(c.node).depth));
    return dimProduct(all);
}

Result<Facts> inferBlockGather(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const Fact &data = c.inputs[0], &indices = c.inputs[1];
    Facts out { fact(c.inputs[2].dtype) };
    if (!data.dims || !indices.dims)
        return out;
    Dims table = *data.dims;
    const int64_t bits = c.node.attributes.integer("bits", 4);
    if (data.dtype == DType::UInt8 && bits > 0 && bits < 8 && !table.empty() && table.back().known())
        table.back() = productOf(table.back(), 8 / bits);
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("gather_axis", 0), table.size()));
    QS_CHECK(axisArgument(c.node, c.node.attributes.integer("quantize_axis", 1), table.size()));
    Dims dims(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
    dims.insert(dims.end(), table.begin() + static_cast<std::ptrdiff_t>(axis) + 1, table.end());
    out[0].dims = std::move(dims);
    return out;
}

} // namespace

void registerBlockQuantizedOps(OpRegistry& r)
{
    r.add({ kMicrosoftDomain, "MatMulNBits", inferBlockProduct, Tolerance::Accumulation, blockProductMacs });
    r.add({ kMicrosoftDomain, "MatMulBnb4", inferBlockProduct, Tolerance::Accumulation, blockProductMacs });
    r.add({ kMicrosoftDomain, "GatherBlockQuantized", inferBlockGather, Tolerance::OneUlp });
}

} // namespace qs
