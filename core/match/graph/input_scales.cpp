// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/input_scales.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kMostSteps = 16; ///< back from a product
constexpr double kSameFactor = 1e-6; ///< relative: what float32 rounds
constexpr double kRoundedTerms = 1e-3; ///< the same of terms that factors were taken into
constexpr double kRoundedFactor = 0.1; ///< relative distance that quantizing a constant explains

/// A constant for each channel; empty where it is another one.
std::vector<double> byChannel(const Tensor* t, const InputChannels& channels, size_t rank)
{
    const auto count = size_t(channels.count);
    if (!t || !isFloat(t->dtype()))
        return {};
    std::vector<double> values = toDoubles(*t);
    if (values.size() == 1)
        return std::vector<double>(count, values[0]);
    const size_t behind = channels.last || rank < 2 ? 0 : rank - 2; // axes after that of the channels
    const bool fits = values.size() == count && t->rank() > behind && t->dim(t->rank() - 1 - behind) == channels.count;
    return fits ? values : std::vector<double>();
}

bool keepsNumbers(const Node& node)
{
    return node.is("QuantizeLinear") || node.is("DequantizeLinear") || node.is("DynamicQuantizeLinear")
        || node.is("Identity") || node.is("Cast");
}

bool normalizes(const Node& node)
{
    return node.opType == "LayerNormalization" || node.opType == "RMSNormalization"
        || node.opType == "SimplifiedLayerNormalization";
}

/// Goes back from what a product reads.
class ScaleWalk {
public:
    ScaleWalk(const Plan& plan, const InputChannels& channels)
        : m_plan(plan)
        , m_channels(channels)
    {
    }

    std::vector<InputScale> from(ValueId value)
    {
        for (size_t i = 0; i < kMostSteps && value.valid(); ++i)
            value = before(value);
        return std::move(m_scales);
    }

private:
    /// What the value is made of; invalid where the walk ends.
    ValueId before(ValueId value)
    {
        const NodeId id = m_plan.graph().value(value).producer;
        if (!id.valid() || m_plan.constant(value))
            return {};
        const Node& node = m_plan.graph().node(id);
        if (keepsNumbers(node))
            return node.inputs[0];
        if (normalizes(node)) {
            if (take(node, 1))
                m_scales.back().terms = termsOf(node);
            return {};
        }
        if ((!node.is("Mul") && !node.is("Div")) || node.inputs.size() != 2)
            return {};
        const size_t slot = node.hasInput(0) && m_plan.constant(node.inputs[0]) ? 0 : 1;
        if (!node.hasInput(slot) || !m_plan.constant(node.inputs[slot]) || (slot == 0 && node.is("Div")))
            return {};
        return take(node, slot) ? node.inputs[1 - slot] : ValueId();
    }

    /// What a normalization adds behind, one a channel.
    std::vector<double> termsOf(const Node& node) const
    {
        const size_t count = m_scales.back().factors.size();
        return node.hasInput(2) ? byChannel(m_plan.constant(node.inputs[2]), m_channels, 0)
                                : std::vector<double>(count, 0);
    }

    bool take(const Node& node, size_t slot)
    {
        const Tensor* t = node.hasInput(slot) ? m_plan.constant(node.inputs[slot]) : nullptr;
        const auto dims = node.hasOutput(0) ? m_plan.facts().of(node.outputs[0]).dims : std::nullopt;
        std::vector<double> factors = byChannel(t, m_channels, dims ? dims->size() : 0);
        if (factors.empty())
            return false;
        if (node.is("Div"))
            std::ranges::transform(factors, factors.begin(), [](double f) { return 1 / f; });
        const NodeId maker = m_plan.graph().value(node.inputs[slot]).producer;
        m_scales.push_back({ std::move(factors), maker.valid() && m_plan.graph().node(maker).is("DequantizeLinear") });
        return true;
    }

    const Plan& m_plan;
    const InputChannels& m_channels;
    std::vector<InputScale> m_scales;
};

/// The same but for how they are stored.
bool isOneScale(const InputScale& a, const InputScale& b)
{
    const double room = a.coded || b.coded ? kRoundedFactor : kSameFactor;
    double size = 0, apart = 0;
    for (size_t c = 0; c < a.factors.size(); ++c) {
        size += a.factors[c] * a.factors[c];
        apart += (b.factors[c] - a.factors[c]) * (b.factors[c] - a.factors[c]);
    }
    return apart <= room * room * size;
}

/// Of normalizations: the terms have the factors of the scales.
bool haveTheirFactors(const InputScale& f, const InputScale& q)
{
    if (f.terms.size() != q.terms.size())
        return false;
    double size = 0, apart = 0;
    for (size_t c = 0; c < f.terms.size(); ++c) {
        const double wanted = f.terms[c] * q.factors[c] / f.factors[c];
        size += wanted * wanted;
        apart += (q.terms[c] - wanted) * (q.terms[c] - wanted);
    }
    return apart <= kRoundedTerms * kRoundedTerms * size;
}

} // namespace

std::vector<InputScale> inputScales(const Plan& plan, ValueId value, const InputChannels& channels)
{
    return channels.count > 0 ? ScaleWalk(plan, channels).from(value) : std::vector<InputScale>();
}

std::vector<double> ownInputFactors(std::vector<InputScale> ofFloat, std::vector<InputScale> ofQuant)
{
    while (!ofFloat.empty() && !ofQuant.empty() && isOneScale(ofFloat.back(), ofQuant.back())) {
        ofFloat.pop_back();
        ofQuant.pop_back();
    }
    if (ofQuant.empty())
        return {};
    const bool normalized = !ofQuant.back().terms.empty() || (!ofFloat.empty() && !ofFloat.back().terms.empty());
    if (normalized && (ofFloat.empty() || !haveTheirFactors(ofFloat.back(), ofQuant.back())))
        return {};
    std::vector<double> factors(ofQuant[0].factors.size(), 1);
    for (size_t c = 0; c < factors.size(); ++c) {
        for (const InputScale& scale : ofQuant)
            factors[c] *= scale.factors[c];
        for (const InputScale& scale : ofFloat)
            factors[c] /= scale.factors[c];
    }
    const auto usable = [](double f) { return std::isfinite(f) && f != 0; };
    const auto changes = [](double f) { return std::fabs(f - 1) > kSameFactor; };
    const bool any = std::ranges::all_of(factors, usable) && std::ranges::any_of(factors, changes);
    return any ? factors : std::vector<double>();
}

InputChannels inputChannels(const Plan& plan, NodeId product)
{
    const Node& node = plan.graph().node(product);
    const Tensor* weight = node.hasInput(1) ? plan.constant(node.inputs[1]) : nullptr;
    if (!weight || !isFloat(weight->dtype()))
        return {};
    const size_t rank = weight->rank();
    if (node.is("Conv") && rank >= 3)
        return { weight->dim(1) * node.attributes.integer("group", 1), false };
    if (node.is("Gemm") && rank == 2 && node.attributes.integer("transA", 0) == 0)
        return { weight->dim(node.attributes.integer("transB", 0) != 0 ? 1 : 0), true };
    return node.is("MatMul") && rank == 2 ? InputChannels { weight->dim(0), true } : InputChannels {};
}

size_t weightInput(const Node& product, const Shape& weight, size_t element)
{
    if (!product.is("Conv")) {
        const auto columns = size_t(weight[1]);
        return product.attributes.integer("transB", 0) != 0 ? element % columns : element / columns;
    }
    size_t inner = 1;
    for (size_t d = 2; d < weight.size(); ++d)
        inner *= size_t(weight[d]);
    const auto ins = size_t(weight[1]), groups = size_t(product.attributes.integer("group", 1));
    const size_t out = element / (inner * ins);
    return out * groups / size_t(weight[0]) * ins + element / inner % ins;
}

} // namespace qs
