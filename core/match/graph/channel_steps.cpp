// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/channel_steps.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kAlikeSteps = 0.1; ///< relative distance that quantizing a constant explains

/// The constant along the channels; nothing where it is another one.
std::optional<std::vector<double>> alongChannels(const Tensor* t, const ProductChannels& channels)
{
    if (!t || !isFloat(t->dtype()) || (channels.rank > 0 && t->rank() > channels.rank))
        return std::nullopt;
    std::vector<double> values = toDoubles(*t);
    if (values.size() == 1)
        return std::vector<double>(size_t(channels.count), values[0]);
    const size_t behind = channels.last ? 0 : channels.rank - 2; // axes after that of the channels
    if (int64_t(values.size()) != channels.count || t->rank() <= behind
        || t->dim(t->rank() - 1 - behind) != channels.count)
        return std::nullopt;
    return values;
}

class StepWalk {
public:
    StepWalk(const Plan& plan, const QuantView* view, const ProductChannels& channels)
        : m_plan(plan)
        , m_graph(plan.graph())
        , m_view(view)
        , m_channels(channels)
    {
    }

    std::vector<ChannelStep> from(NodeId product)
    {
        if (!m_graph.node(product).hasOutput(0))
            return {};
        ValueId value = m_graph.node(product).outputs[0];
        if (const ValueId scaled = m_view ? m_view->scaledSums(value) : ValueId(); scaled.valid())
            value = scaled;
        for (NodeId next = onlyReader(value); next.valid() && take(next, value); next = onlyReader(value))
            value = m_graph.node(next).outputs[0];
        return std::move(m_steps);
    }

private:
    NodeId onlyReader(ValueId value) const
    {
        const auto& uses = m_graph.value(value).uses;
        const bool single = uses.size() == 1 && !m_graph.isOutput(value);
        return single && m_graph.node(uses[0].node).hasOutput(0) ? uses[0].node : NodeId();
    }

    bool take(NodeId id, ValueId value)
    {
        const Node& node = m_graph.node(id);
        if (isQuantizeLinear(node) || isDequantizeLinear(node) || node.is("Identity") || node.is("Cast"))
            return node.inputs[0] == value;
        if (node.is("BatchNormalization"))
            return takeNormalization(id, node);
        const bool scales = node.is("Mul") || node.is("Div"), inverse = node.is("Div") || node.is("Sub");
        if ((!scales && !node.is("Add") && !node.is("Sub")) || node.inputs.size() != 2)
            return false;
        const size_t slot = node.inputs[0] == value ? 1 : 0;
        auto values = alongChannels(m_plan.constant(node.inputs[slot]), m_channels);
        if (!values || (inverse && slot == 0))
            return false;
        for (double& v : *values)
            v = !inverse ? v : scales ? 1 / v : -v;
        m_steps.push_back({ id, scales, slot, std::move(*values), {},
            scales && !inverse ? halfSteps(node.inputs[slot]) : std::vector<double>() });
        return true;
    }

    /// How far the constant may be from the one that its codes were made of, one a channel; empty where it is no codes.
    std::vector<double> halfSteps(ValueId constant) const
    {
        const auto q = m_view ? m_view->ofQuantized(constant) : std::nullopt;
        const QuantParams* params = q ? &m_view->quantizers()[*q].params : nullptr;
        const auto count = size_t(m_channels.count);
        if (!params || !isInteger(params->dtype) || (params->scale.size() != 1 && params->scale.size() != count))
            return {};
        std::vector<double> halves;
        for (size_t c = 0; c < count; ++c)
            halves.push_back(double(params->scale[params->perTensor() ? 0 : c]) / 2);
        return halves;
    }

    bool takeNormalization(NodeId id, const Node& node)
    {
        const bool onSecondAxis = !m_channels.last || m_channels.rank == 2;
        if (node.inputs.size() < 5 || node.attributes.integer("training_mode", 0) != 0 || !onSecondAxis
            || std::ranges::count_if(node.outputs, [](ValueId o) { return o.valid(); }) != 1)
            return false;
        std::vector<double> parts[4];
        for (size_t i = 0; i < 4; ++i) {
            const Tensor* part = m_plan.constant(node.inputs[i + 1]);
            if (!part || !isFloat(part->dtype()) || part->count() != m_channels.count)
                return false;
            parts[i] = toDoubles(*part);
        }
        const double epsilon = double(node.attributes.real("epsilon", 1e-5f));
        ChannelStep scale { id, true, 1, {} }, shift { id, false, 2, {} };
        scale.slack = halfSteps(node.inputs[1]);
        for (size_t c = 0; c < parts[0].size(); ++c) {
            const double deviation = std::sqrt(parts[3][c] + epsilon);
            scale.values.push_back(parts[0][c] / deviation);
            if (!scale.slack.empty())
                scale.slack[c] /= deviation;
            shift.offsets.push_back(parts[2][c] * scale.values[c]);
            shift.values.push_back(parts[1][c] - shift.offsets[c]);
        }
        m_steps.push_back(std::move(scale));
        m_steps.push_back(std::move(shift));
        return true;
    }

    const Plan& m_plan;
    const Graph& m_graph;
    const QuantView* m_view;
    const ProductChannels& m_channels;
    std::vector<ChannelStep> m_steps;
};

/// Scaling steps among the first ones.
long scalings(const std::vector<ChannelStep>& steps, size_t end)
{
    return std::count_if(steps.begin(), steps.begin() + ptrdiff_t(end), [](const ChannelStep& s) { return s.scales; });
}

/// A single zero, as exporters write it where there is no bias. A bias of zeros may be a lost one.
bool isNothing(const Tensor* term)
{
    return term && isFloat(term->dtype()) && term->rank() == 0 && toDoubles(*term).front() == 0;
}

/// By their numbers.
bool isOneStep(const ChannelStep& a, const ChannelStep& b)
{
    double signal = 0, noise = 0;
    for (size_t c = 0; c < a.values.size(); ++c) {
        signal += a.values[c] * a.values[c];
        noise += (b.values[c] - a.values[c]) * (b.values[c] - a.values[c]);
    }
    return noise <= kAlikeSteps * kAlikeSteps * signal;
}

} // namespace

ValueId ownBias(const Plan& plan, NodeId product)
{
    const Node& node = plan.graph().node(product);
    const auto signature = qlinearSignature(node);
    const bool takes = node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm");
    constexpr int kBias = 2; // of those that read floats
    const int slot = signature ? signature->bias : takes ? kBias : -1;
    if (slot < 0 || !node.hasInput(size_t(slot)))
        return {};
    if (node.is("Gemm") && node.attributes.real("beta", 1) == 0)
        return {};
    const ValueId bias = node.inputs[size_t(slot)];
    return isNothing(plan.constant(bias)) ? ValueId() : bias;
}

std::optional<ProductChannels> productChannels(const Plan& plan, NodeId product)
{
    const Node& node = plan.graph().node(product);
    const Tensor* weight = node.hasInput(1) ? plan.constant(node.inputs[1]) : nullptr;
    if (!weight || !isFloat(weight->dtype()))
        return std::nullopt;
    const size_t rank = weight->rank();
    if (node.is("Conv") && rank >= 3)
        return ProductChannels { weight->dim(0), rank, false };
    if (node.is("ConvTranspose") && rank >= 3)
        return ProductChannels { weight->dim(1) * node.attributes.integer("group", 1), rank, false };
    if (node.is("Gemm") && rank == 2 && node.attributes.real("alpha", 1) == 1.0f
        && (node.attributes.real("beta", 1) == 1.0f || !ownBias(plan, product).valid()))
        return ProductChannels { weight->dim(node.attributes.integer("transB", 0) != 0 ? 0 : 1), rank, true };
    if (!node.is("MatMul") || rank != 2)
        return std::nullopt;
    const auto dims = node.hasOutput(0) ? plan.facts().of(node.outputs[0]).dims : std::nullopt;
    return ProductChannels { weight->dim(1), dims ? dims->size() : 0, true };
}

std::vector<ChannelStep> channelSteps(
    const Plan& plan, const QuantView* view, NodeId product, const ProductChannels& channels)
{
    return StepWalk(plan, view, channels).from(product);
}

OwnSteps ownSteps(const std::vector<ChannelStep>& ofFloat, const std::vector<ChannelStep>& ofQuant)
{
    OwnSteps own { ofFloat.size(), ofQuant.size() };
    while (own.ofFloat > 0 && own.ofQuant > 0) {
        const ChannelStep &a = ofFloat[own.ofFloat - 1], &b = ofQuant[own.ofQuant - 1];
        // Terms behind equally many scalings are one, whatever a fault made of them.
        const bool level = !a.scales && scalings(ofFloat, own.ofFloat) == scalings(ofQuant, own.ofQuant);
        if (a.scales != b.scales || (!level && !isOneStep(a, b)))
            break;
        --own.ofFloat;
        --own.ofQuant;
    }
    return own;
}

std::vector<double> weightFactors(
    const std::vector<ChannelStep>& ofFloat, const std::vector<ChannelStep>& ofQuant, size_t channels)
{
    const OwnSteps own = ownSteps(ofFloat, ofQuant);
    const auto product = [](const std::vector<ChannelStep>& steps, size_t end, size_t c) {
        double factor = 1;
        for (size_t i = 0; i < end; ++i)
            factor *= steps[i].scales ? steps[i].values[c] : 1;
        return factor;
    };
    std::vector<double> factors;
    for (size_t c = 0; c < channels; ++c)
        factors.push_back(product(ofFloat, own.ofFloat, c) / product(ofQuant, own.ofQuant, c));
    return factors;
}

size_t weightChannel(const Node& product, const Shape& weight, size_t element)
{
    const bool first = product.is("Conv") || (product.is("Gemm") && product.attributes.integer("transB", 0) != 0);
    size_t inner = 1;
    for (size_t d = first ? 1 : 2; d < weight.size(); ++d)
        inner *= size_t(weight[d]);
    if (first)
        return element / inner;
    const size_t here = element / inner % size_t(weight[1]);
    if (!product.is("ConvTranspose"))
        return here;
    const auto groups = size_t(product.attributes.integer("group", 1));
    return element / (inner * size_t(weight[1])) * groups / size_t(weight[0]) * size_t(weight[1]) + here;
}

} // namespace qs
