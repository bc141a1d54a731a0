// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/difference/float_twins.h"

#include "core/match/graph/canonical.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

std::optional<double> FloatTwin::at(int64_t element, size_t elements, const SampleValues& values) const
{
    if (!places.empty()) {
        if (size_t(element) >= places.size() || places[size_t(element)] < 0)
            return std::nullopt;
        element = places[size_t(element)];
    }
    double number = 0;
    if (constant) {
        if (constant->count() != elements)
            return std::nullopt;
        number = constant->real(size_t(element));
    } else {
        const Tensor& tensor = values.of(value);
        if (!tensor.valid() || size_t(tensor.count()) != elements)
            return std::nullopt;
        number = elementAsDouble(tensor, element);
    }
    return std::min(std::max(number, double(bounds.low)), double(bounds.high));
}

FloatTwins::FloatTwins(const ComparePair& pair)
    : m_pair(pair)
    , m_plans(planPairs(pair))
    , m_folded(pair)
    , m_partners(pair)
{
}

std::optional<FloatTwin> FloatTwins::of(ValueId value, NodeId node, size_t operand) const
{
    if (!value.valid())
        return std::nullopt;
    const bool constant = m_pair.quantPlan->constant(value) != nullptr;
    auto found = constant ? weight(value) : activation(value);
    return found || !node.valid() ? found : partnerInput(node, operand);
}

std::optional<FloatTwin> FloatTwins::activation(ValueId value) const
{
    const auto quantizer = m_pair.quantView->ofValue(value);
    const PairPlan* found = nullptr;
    int best = 0;
    for (const PairPlan& plan : m_plans) {
        const bool own = plan.pair.quantValue == value && !plan.beforeRounding.valid();
        const bool same = quantizer && plan.pair.quantizer == quantizer && !plan.beforeRounding.valid();
        const int fit = own ? 3 : same ? 2 : plan.y == value || plan.pair.quantValue == value ? 1 : 0;
        if (fit > best) {
            best = fit;
            found = &plan;
        }
    }
    if (!found)
        return std::nullopt;
    FloatTwin twin;
    twin.value = found->x;
    twin.name = m_pair.floatPlan->graph().value(found->x).name;
    if (best > 1)
        twin.bounds = found->activation;
    return twin;
}

std::optional<FloatTwin> FloatTwins::weight(ValueId value) const
{
    const auto quantizer = m_pair.quantView->ofValue(value);
    const auto& weights = m_pair.alignment->weights;
    const auto pair
        = std::ranges::find_if(weights, [&](const WeightPair& w) { return quantizer && w.quantizer == *quantizer; });
    const Tensor* constant = pair == weights.end() ? nullptr : m_folded.of(*pair);
    if (!constant)
        return std::nullopt;
    FloatTwin twin;
    twin.value = pair->floatValue;
    twin.name = m_pair.floatPlan->graph().value(pair->floatValue).name;
    twin.constant = Elements(*constant);
    const Tensor* codes = storedCodes(*m_pair.quantPlan, m_pair.quantView->quantizers()[*quantizer]);
    if (!codes)
        return twin;
    const int64_t count = codes->count();
    if (pair->places) {
        twin.places.assign(size_t(count), -1);
        for (size_t i = 0; i < pair->places->codes.size(); ++i)
            if (pair->places->codes[i] < twin.places.size())
                twin.places[pair->places->codes[i]] = pair->places->floats[i];
    } else if (pair->transposed && codes->rank() == 2) {
        const int64_t rows = codes->dim(0), columns = codes->dim(1);
        for (int64_t i = 0; i < count; ++i)
            twin.places.push_back(i % columns * rows + i / columns);
    }
    return twin;
}

/// What the node of the float network reads that stands for `node`.
std::optional<FloatTwin> FloatTwins::partnerInput(NodeId node, size_t operand) const
{
    const NodeId partner = m_partners.of(node);
    if (!partner.valid())
        return std::nullopt;
    const Node& own = m_pair.floatPlan->graph().node(partner);
    FloatTwin twin;
    if (const Tensor* constant = m_folded.at(partner, operand)) {
        twin.constant = Elements(*constant);
        twin.name = own.hasInput(operand) ? m_pair.floatPlan->graph().value(own.inputs[operand]).name : own.name;
        return twin;
    }
    if (!own.hasInput(operand))
        return std::nullopt;
    twin.value = own.inputs[operand];
    twin.name = m_pair.floatPlan->graph().value(twin.value).name;
    if (const Tensor* constant = m_pair.floatPlan->constant(twin.value))
        twin.constant = Elements(*constant);
    return twin;
}

} // namespace qs
