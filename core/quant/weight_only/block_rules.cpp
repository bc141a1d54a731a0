// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/block_rules.h"

#include <algorithm>
#include <bit>

namespace qs {

namespace {

std::string quoted(WeightOnlyAlgorithm a) { return "'" + std::string(nameIn(kWeightOnlyAlgorithms, a)) + "'"; }

Status checkOptions(const Recipe& recipe)
{
    using enum WeightOnlyAlgorithm;
    const WeightOnlyOptions& o = recipe.weightOnly;
    if (o.dequantizeForm && o.algorithm != Default)
        return badUse("the form with DequantizeLinear has the default algorithm only",
            "leave " + quoted(o.algorithm) + " or the form out");
    if (o.channelWise && !o.dequantizeForm)
        return badUse("one block a column is possible in the form with DequantizeLinear only",
            "use --form dequantize, or give a block size");
    if (o.accuracyLevel != 0 && (o.dequantizeForm || o.algorithm == Hqq))
        return badUse("an accuracy level is an attribute of MatMulNBits with whole zero points",
            "leave it out, or use the operator form without hqq");
    if (!o.clipRatios.empty() && o.algorithm != RoundToNearest)
        return badUse("clip_ratios belong to the algorithm 'rtn'", "use rtn, or leave them out");
    const bool tables = std::ranges::find(recipe.opTypes, "Gather") != recipe.opTypes.end();
    if (tables && (o.algorithm != Default || o.dequantizeForm))
        return badUse("tables of Gather need the default algorithm and the operator form",
            "leave Gather out of the operator types");
    return {};
}

/// The bits, symmetry and size that one node's weight gets.
Status checkRules(const BlockRules& r, DType type)
{
    using enum WeightOnlyAlgorithm;
    const std::string name(dtypeName(type));
    if (r.bits > 8 || !isInteger(type))
        return badUse("weights in blocks cannot be " + name, "use int2, uint2, int4, uint4, int8 or uint8");
    if (r.dequantizeForm && r.bits != 4)
        return badUse("the form with DequantizeLinear has 4 bits only, not " + name, "use int4 or uint4");
    if (r.bits == 2 && r.algorithm != Default && r.algorithm != Hqq)
        return badUse(
            "the algorithm " + quoted(r.algorithm) + " has 4 and 8 bits only", "use int4, uint4, int8 or uint8");
    if (r.symmetric && (r.algorithm == Hqq || r.algorithm == KQuant))
        return badUse(
            "the algorithm " + quoted(r.algorithm) + " always has zero points, " + name + " has none", "use u" + name);
    constexpr int64_t kSmallest = 16, kLargest = 256;
    const bool known = r.blockSize >= kSmallest && r.blockSize <= kLargest
        && std::has_single_bit(static_cast<uint64_t>(r.blockSize));
    if (!r.dequantizeForm && !known)
        return badUse(
            "MatMulNBits has no blocks of " + std::to_string(r.blockSize) + " rows", "use 16, 32, 64, 128 or 256");
    return {};
}

/// The [K, N] that the algorithm takes of a weight; nothing where it leaves the node alone.
std::optional<Tensor> matrixOf(const Tensor& weight, WeightOnlyAlgorithm algorithm)
{
    using enum WeightOnlyAlgorithm;
    const DType type = weight.dtype();
    const bool real = type == DType::Float32 || type == DType::Float16;
    if (weight.rank() < 2 || weight.count() == 0 || !(real || (type == DType::BFloat16 && algorithm == Default)))
        return std::nullopt;
    const size_t leading = weight.rank() - 2;
    if (leading == 0)
        return weight;
    const bool squeezes = algorithm == Default || algorithm == Hqq;
    const bool units = std::all_of(weight.shape().begin(),
        weight.shape().begin() + static_cast<std::ptrdiff_t>(leading), [](int64_t d) { return d == 1; });
    if (!squeezes || !units || weight.layout() != Layout::Plain)
        return std::nullopt;
    return weight.reshaped({ weight.dim(leading), weight.dim(leading + 1) });
}

Status checkNames(const FloatModel& model, const Recipe& recipe)
{
    const WeightOnlyOptions& o = recipe.weightOnly;
    const auto unknown = [](const std::string& name) {
        return Issue { IssueKind::BadInput, "is in the recipe, but not in the model", {}, {}, name,
            "correct the name" };
    };
    for (const auto& [name, ratio] : o.clipRatios)
        if (!model.draft.constant(name))
            return unknown(name);
    const std::vector<std::string> names = nodeNames(model.draft, recipe);
    for (const auto& [name, wanted] : o.nodes)
        if (std::ranges::find(names, name) == names.end())
            return unknown(name);
    return {};
}

} // namespace

Result<std::vector<BlockProduct>> blockProducts(const FloatModel& model, const Recipe& recipe, size_t threads)
{
    const WeightOnlyOptions& o = recipe.weightOnly;
    QS_CHECK(checkOptions(recipe));
    if (!model.outer)
        QS_CHECK(checkNames(model, recipe));
    std::vector<BlockProduct> products;
    for (size_t n = 0; n < model.draft.nodes.size(); ++n) {
        const DraftNode& node = model.draft.nodes[n];
        const bool product = model.chosen[n] && node.is("MatMul") && node.hasInput(1);
        const Tensor* weight = product ? model.constant(node.inputs[1]) : nullptr;
        const auto matrix = weight ? matrixOf(*weight, o.algorithm) : std::nullopt;
        if (!matrix)
            continue;
        const auto own = o.nodes.find(node.name);
        const WeightOnlyNode wanted = own == o.nodes.end() ? WeightOnlyNode {} : own->second;
        const DType type = wanted.type.value_or(recipe.weightType);
        const auto ratio = o.clipRatios.find(node.inputs[1]);
        BlockRules rules;
        rules.bits = static_cast<int>(dtypeBits(type));
        rules.blockSize = wanted.blockSize.value_or(o.channelWise ? -1 : o.blockSize);
        if (rules.blockSize == -1)
            rules.blockSize = matrix->dim(0);
        rules.symmetric = isSigned(type);
        rules.algorithm = o.algorithm;
        rules.dequantizeForm = o.dequantizeForm;
        rules.clipRatio = ratio == o.clipRatios.end() ? 1.0f : static_cast<float>(ratio->second);
        rules.threads = threads;
        QS_CHECK(checkRules(rules, type));
        products.push_back({ n, node.inputs[1], *matrix, rules });
    }
    return products;
}

} // namespace qs
