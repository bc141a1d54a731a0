// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/function_differences.h"

#include "core/analysis/rounding/constant_differences.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace qs {

namespace {

bool isGeluByTanh(const Node& node)
{
    return node.opType == "FastGelu"
        || (node.opType == "Gelu" && node.attributes.text("approximate", "none") == "tanh");
}

bool isGeluByErf(const Node& node)
{
    return node.opType == "Erf" || node.opType == "BiasGelu"
        || (node.opType == "Gelu" && node.attributes.text("approximate", "none") == "none");
}

/// tanh(sqrt(2 / pi) (x + 0.044715 x^3)), step by step.
bool isStepOfGelu(const Plan& plan, const Node& tanh)
{
    constexpr double kFactor = 0.7978846, kClose = 1e-3;
    const NodeId before = tanh.is("Tanh") ? plan.graph().value(tanh.inputs[0]).producer : NodeId();
    return before.valid() && plan.graph().node(before).is("Mul")
        && std::ranges::any_of(plan.graph().node(before).inputs, [&](ValueId in) {
               const Tensor* t = plan.constant(in);
               return t && isFloat(t->dtype()) && t->count() == 1 && std::fabs(toDoubles(*t)[0] - kFactor) < kClose;
           });
}

size_t count(const Graph& graph, auto&& fits) { return size_t(std::ranges::count_if(graph.nodes(), fits)); }

/// One file has more Gelus by Tanh, and so many fewer by Erf than the other.
void findGelus(const Plan& floatPlan, const Plan& quantPlan, std::vector<FunctionDifference>& found)
{
    const Graph &f = floatPlan.graph(), &q = quantPlan.graph();
    const auto byTanh = [](const Plan& plan) {
        return [&plan](const Node& node) { return isGeluByTanh(node) || isStepOfGelu(plan, node); };
    };
    const size_t exact = count(f, isGeluByErf), exactThere = count(q, isGeluByErf);
    const size_t tanh = count(f, byTanh(floatPlan)), tanhThere = count(q, byTanh(quantPlan));
    const auto node = std::ranges::find_if(q.nodes(), isGeluByTanh);
    if (node != q.nodes().end() && tanhThere > tanh && exact > exactThere)
        found.push_back(
            { fmt::format("{} '{}' computes Gelu by Tanh, an approximation; the float model computes it by Erf",
                node->opType, node->name) });
    const auto other = std::ranges::find_if(q.nodes(), isGeluByErf);
    if (other != q.nodes().end() && tanh > tanhThere && exactThere > exact)
        found.push_back(
            { fmt::format("{}{} '{}' computes Gelu by Erf; the float model computes it by Tanh, an approximation",
                exact > 0 ? "among others, " : "", other->opType, other->name) });
}

/// Activations that exporters put in place of each other: alike, but not the same.
constexpr std::array<std::string_view, 14> kActivations { "Sigmoid", "HardSigmoid", "Tanh", "HardSwish", "Swish",
    "Mish", "Elu", "Selu", "Celu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "QuickGelu" };

bool isOneOf(const std::string& type) { return std::ranges::find(kActivations, type) != kActivations.end(); }

void findActivations(const ComparePair& pair, std::vector<FunctionDifference>& found)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    const FunctionPartners partners(pair);
    std::map<std::string_view, NodeId> named; // what is said of it may be made in two steps, and have no pair
    for (size_t n = 0; n < f.nodes().size(); ++n)
        if (!f.nodes()[n].name.empty())
            named.emplace(f.nodes()[n].name, NodeId(n));
    for (size_t n = 0; n < q.nodes().size(); ++n) {
        NodeId partner = partners.ofAny(NodeId(n));
        if (const auto same = named.find(q.nodes()[n].name); !partner.valid() && same != named.end())
            partner = same->second;
        const std::string type = floatOpType(q.nodes()[n]);
        if (partner.valid() && f.node(partner).opType != type && isOneOf(type) && isOneOf(f.node(partner).opType))
            found.push_back(
                { fmt::format("'{}' is a {}, in the float model a {}", q.nodes()[n].name, type, f.node(partner).opType),
                    partner, NodeId(n) });
    }
}

} // namespace

std::vector<FunctionDifference> functionDifferences(const ComparePair& pair)
{
    std::vector<FunctionDifference> found;
    findGelus(*pair.floatPlan, *pair.quantPlan, found);
    for (FunctionDifference& other : attributeDifferences(pair, AttributeKind::Numbers))
        found.push_back(std::move(other));
    for (FunctionDifference& other : constantDifferences(pair))
        found.push_back(std::move(other));
    findActivations(pair, found);
    return found;
}

} // namespace qs
