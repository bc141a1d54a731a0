// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/opsets.h"

#include "core/graph/domains.h"
#include "core/quant/params/float8.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kWideCodes = 21; ///< first version whose pairs know 16 and 4 bits, and blocks

bool is16Bit(DType type) { return type == DType::Int16 || type == DType::UInt16; }

bool is4Bit(DType type) { return type == DType::Int4 || type == DType::UInt4; }

/// A type of the recipe is one of those.
bool uses(const Recipe& recipe, bool (*wanted)(DType))
{
    const auto part = [&](const QuantOverride& o) { return o.type && wanted(*o.type); };
    return wanted(recipe.activationType) || wanted(recipe.weightType)
        || std::ranges::any_of(recipe.tensors, [&](const auto& entry) {
               const TensorOverride& o = entry.second;
               return std::ranges::any_of(o.parts, part) || (o.convert && part(o.convert->to));
           });
}

} // namespace

std::string pairDomain(const GraphDraft& draft, const Recipe& recipe)
{
    const bool newTypes = uses(recipe, is4Bit) || uses(recipe, is16Bit);
    return recipe.contribOperators || (newTypes && opsetOf(draft) < kWideCodes) ? kMicrosoftDomain : "";
}

int64_t opsetOf(const GraphDraft& draft)
{
    const auto it = draft.opsets.find("");
    return it == draft.opsets.end() ? 0 : it->second;
}

std::optional<int64_t> opsetThatLoads(const GraphDraft& draft, const Recipe& recipe)
{
    if (recipe.format != RecipeFormat::Qdq)
        return std::nullopt;
    const int64_t now = opsetOf(draft);
    const auto isHalf = [&](const std::string& name) { return draft.constant(name)->dtype() == DType::Float16; };
    if (now < kOpsetOfHalfScales && std::ranges::any_of(draft.constants(), isHalf))
        return kOpsetOfHalfScales;
    const auto axis = [](const auto& entry) { return entry.second.axis.has_value(); };
    if (now < kOpsetOfAxes && (recipe.perChannel || std::ranges::any_of(recipe.tensors, axis)))
        return kOpsetOfAxes;
    return std::nullopt;
}

std::optional<int64_t> raisedOpset(const GraphDraft& draft, const Recipe& recipe)
{
    const int64_t now = opsetOf(draft);
    const bool fixedForm = isStatic(recipe.format);
    constexpr int64_t kFloat8Pairs = 19;
    if (fixedForm && now < kWideCodes && recipe.blockSize > 0)
        return kWideCodes;
    if (fixedForm && now < kFloat8Pairs && isFloat8(recipe.weightType))
        return kFloat8Pairs;
    if (fixedForm && now < kWideCodes && uses(recipe, is16Bit))
        return kWideCodes;
    const bool tables = std::ranges::find(recipe.opTypes, "Gather") != recipe.opTypes.end();
    const bool blocks = recipe.format == RecipeFormat::WeightOnly;
    if (blocks && (recipe.weightOnly.dequantizeForm || tables) && now < kWideCodes)
        return kWideCodes;
    // DynamicQuantizeLinear came one version after the pairs.
    constexpr int64_t kFirstPairs = 10, kRaised = 11;
    if (recipe.format != RecipeFormat::WeightOnly && now < (fixedForm ? kFirstPairs : kRaised))
        return kRaised;
    return std::nullopt;
}

} // namespace qs
