// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/operation.h"
#include "core/explain/operators/product_places.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

/// Products of floats: Conv, ConvTranspose, Gemm, MatMul.
namespace qs {

namespace {

/// Spacing of numbers of the type about 1.
double spacing(DType type)
{
    return type == DType::Float16 ? std::ldexp(1, -10)
        : type == DType::BFloat16 ? std::ldexp(1, -7)
        : type == DType::Float64  ? std::ldexp(1, -52)
                                  : std::ldexp(1, -23);
}

std::optional<Result<ProductPlaces>> placesOf(const Operation& op, int64_t element)
{
    const Node& node = *op.node;
    if (!node.domain.empty() || !op.in(0) || !op.in(1) || !isFloat(op.inputs[0].dtype()))
        return std::nullopt;
    const Shape &a = op.inputs[0].shape(), &b = op.inputs[1].shape();
    if (node.opType == "Conv")
        return convPlaces(node, a, b, element);
    if (node.opType == "ConvTranspose")
        return convTransposePlaces(node, a, b, op.output.shape(), element);
    if (node.opType == "Gemm")
        return gemmPlaces(node, a, b, element);
    if (node.opType == "MatMul")
        return matMulPlaces(a, b, element);
    return std::nullopt;
}

} // namespace

bool explainFloatProduct(const Operation& op, int64_t element, ElementExplanation& e)
{
    const auto places = placesOf(op, element);
    if (!places || !places->ok())
        return false;
    const Node& node = *op.node;
    e.kind = ElementExplanation::Kind::Float;
    e.relation = Relation::Products;
    const bool gemm = node.opType == "Gemm";
    e.factor = gemm ? double(node.attributes.real("alpha", 1)) : 1;
    e.biasFactor = gemm ? double(node.attributes.real("beta", 1)) : 1;
    double sum = 0, size = 0;
    for (const ProductPlaces::Pair& at : (*places)->pairs) {
        if (at.a < 0)
            continue;
        ElementTerm term;
        term.a = operandAt(op, 0, at.a);
        term.b = operandAt(op, 1, at.b);
        sum += term.a.real * term.b->real;
        size += std::abs(term.a.real * term.b->real);
        e.terms.push_back(std::move(term));
    }
    e.steps.push_back({ "sum of products", sum });
    if (e.factor != 1)
        e.steps.push_back({ "times alpha", sum * e.factor });
    double value = sum * e.factor;
    if (op.in(2)) {
        const Shape& shape = op.inputs[2].shape();
        e.bias = operandAt(op, 2, gemm ? broadcastElement(op.output.shape(), element, shape) : (*places)->column);
        value += e.bias->real * e.biasFactor;
        size += std::abs(e.bias->real * e.biasFactor);
        e.steps.push_back({ e.biasFactor == 1 ? "plus bias" : "plus beta times bias", value });
    }
    const double made = elementAsDouble(op.output, element);
    e.steps.push_back({ "as the engine sums it in " + std::string(dtypeName(op.output.dtype())), made });
    const double depth = double(std::max<size_t>(e.terms.size(), 1));
    e.confirmed = !std::isfinite(value) || !std::isfinite(made)
        || std::abs(made - value) <= spacing(op.output.dtype()) * (1 + std::sqrt(depth)) * 2 * (size + std::abs(made));
    return true;
}

} // namespace qs
