// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/stored_operand.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace qs {

namespace {

/// Index of the quantizer whose stored codes a value shows.
std::optional<uint32_t> storedQuantizer(const GraphPair& g, ValueId id)
{
    const auto q = g.view.ofQuantized(id);
    if (!q)
        return std::nullopt;
    const Quantizer& quantizer = g.view.quantizers()[*q];
    const bool stored = !quantizer.params.scale.empty() && storedCodes(g.q.plan(), quantizer) != nullptr;
    return stored ? q : std::nullopt;
}

/// The box that these places of a tensor fill; flat where they fill none.
Shape boxShape(const Shape& whole, const std::vector<uint32_t>& places)
{
    Shape box = whole;
    size_t inner = 1, count = 1;
    for (size_t d = whole.size(); d-- > 0;) {
        const auto dim = static_cast<size_t>(whole[d]);
        std::vector<bool> seen(dim, false);
        for (const uint32_t place : places)
            seen[place / inner % dim] = true;
        box[d] = std::ranges::count(seen, true);
        count *= static_cast<size_t>(box[d]);
        inner *= dim;
    }
    return count == places.size() ? box : Shape { static_cast<int64_t>(places.size()) };
}

bool inOrder(const std::vector<uint32_t>& places)
{
    for (size_t i = 0; i < places.size(); ++i)
        if (places[i] != i)
            return false;
    return true;
}

} // namespace

std::optional<StoredOperand> storedOperand(const GraphPair& g, ValueId id)
{
    const Plan& plan = g.q.plan();
    if (const auto q = storedQuantizer(g, id))
        return StoredOperand { storedCodes(plan, g.view.quantizers()[*q])->shape(), { *q }, std::nullopt };
    const Tensor* value = plan.constant(id);
    if (!value || !isFloat(value->dtype()))
        return std::nullopt;
    auto moved = movedElements(
        plan.graph(), [&](ValueId v) { return plan.constant(v); }, id,
        [&](ValueId v) { return storedQuantizer(g, v).has_value(); });
    if (!moved)
        return std::nullopt;
    StoredOperand operand { value->shape(), {}, std::nullopt };
    for (const ValueId source : moved->sources)
        operand.quantizers.push_back(*storedQuantizer(g, source));
    operand.moved = std::move(moved);
    return operand;
}

std::vector<float> operandValues(const GraphPair& g, ValueId id, const StoredOperand& operand)
{
    if (operand.moved)
        return toFloats(*g.q.plan().constant(id));
    const Quantizer& q = g.view.quantizers()[operand.quantizers[0]];
    return dequantized(*storedCodes(g.q.plan(), q), q.params);
}

std::optional<bool> outputsInRows(
    const std::string& opType, const std::string& floatType, const Attributes& attributes, size_t slot)
{
    if (slot > 1 || opType == "MatMulBnb4")
        return std::nullopt;
    if (opType == "MatMulNBits" || floatType == "Conv" || floatType == "ConvTranspose")
        return slot == 1 ? std::optional(true) : std::nullopt;
    if (floatType != "MatMul" && floatType != "Gemm")
        return std::nullopt;
    if (attributes.integer("transBatchA", 0) != 0 || attributes.integer("transBatchB", 0) != 0)
        return std::nullopt;
    const bool exchanged = attributes.integer(slot == 1 ? "transB" : "transA", 0) != 0;
    return exchanged == (slot == 1);
}

namespace {

bool isExchange(const WeightPlaces& places)
{
    if (places.shape.size() != 2)
        return false;
    for (size_t i = 0; i < places.codes.size(); ++i)
        if (places.codes[i] != exchangedPlace(places.shape, i))
            return false;
    return true;
}

/// What quantizer `k` of the operand has a part in, element by element.
std::optional<WeightPair> pairPart(
    const GraphPair& g, const StoredOperand& operand, const SameElements& same, uint32_t k)
{
    const auto count = static_cast<size_t>(elementCount(same.shape).value_or(0));
    WeightPair pair;
    pair.quantizer = operand.quantizers[k];
    WeightPlaces places;
    std::vector<uint32_t> rows; // elements of `same` that come from these codes
    for (uint32_t i = 0; i < count; ++i) {
        const size_t at = same.exchanged ? exchangedPlace(same.shape, i) : same.operand.empty() ? i : same.operand[i];
        if (operand.moved && operand.moved->source[at] != k)
            continue;
        rows.push_back(i);
        places.floats.push_back(same.floats.empty() ? i : same.floats[i]);
        places.codes.push_back(operand.moved ? operand.moved->element[at] : static_cast<uint32_t>(at));
    }
    if (rows.empty())
        return std::nullopt;
    places.shape = rows.size() == count ? same.shape : boxShape(same.shape, rows);
    const Tensor& codes = *storedCodes(g.q.plan(), g.view.quantizers()[pair.quantizer]);
    const bool whole = size_t(codes.count()) == rows.size() && rows.size() == count && same.floats.empty();
    pair.transposed = whole && codes.rank() == 2 && codes.dim(0) == places.shape.back() && isExchange(places);
    if (!pair.transposed && !(whole && inOrder(places.codes)))
        pair.places = std::make_shared<const WeightPlaces>(std::move(places));
    return pair;
}

} // namespace

std::vector<WeightPair> pairElements(const GraphPair& g, const StoredOperand& operand, const SameElements& same)
{
    std::vector<WeightPair> pairs;
    const bool plain = !operand.moved && same.floats.empty() && same.operand.empty();
    if (plain && (!same.exchanged || same.shape.size() == 2)) {
        WeightPair pair;
        pair.quantizer = operand.quantizers[0];
        pair.transposed = same.exchanged;
        return { pair };
    }
    for (uint32_t k = 0; k < operand.quantizers.size(); ++k)
        if (auto pair = pairPart(g, operand, same, k))
            pairs.push_back(std::move(*pair));
    return pairs;
}

} // namespace qs
