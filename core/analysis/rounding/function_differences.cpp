// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/function_differences.h"

#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/rounding/attribute_differences.h"
#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

size_t count(const Graph& graph, bool (*fits)(const Node&))
{
    return size_t(std::ranges::count_if(graph.nodes(), fits));
}

/// One file has Gelus by Tanh, and so many fewer by Erf than the other.
void findGelus(const Graph& f, const Graph& q, std::vector<std::string>& found)
{
    const size_t exact = count(f, isGeluByErf), exactThere = count(q, isGeluByErf);
    const auto node = std::ranges::find_if(q.nodes(), isGeluByTanh);
    if (node != q.nodes().end() && count(f, isGeluByTanh) == 0 && exact > exactThere)
        found.push_back(
            fmt::format("{} '{}' computes Gelu by Tanh, an approximation; the float model computes it by Erf",
                node->opType, node->name));
    const auto other = std::ranges::find_if(f.nodes(), isGeluByTanh);
    if (other != f.nodes().end() && count(q, isGeluByTanh) == 0 && exactThere > exact)
        found.push_back(fmt::format(
            "{} '{}' of the float model computes Gelu by Tanh, an approximation; the quantized file computes it by Erf",
            other->opType, other->name));
}

/// Activations that exporters put in place of each other: alike, but not the same.
constexpr std::array<std::string_view, 14> kActivations { "Sigmoid", "HardSigmoid", "Tanh", "HardSwish", "Swish",
    "Mish", "Elu", "Selu", "Celu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "QuickGelu" };

bool isOneOf(const std::string& type) { return std::ranges::find(kActivations, type) != kActivations.end(); }

void findActivations(const ComparePair& pair, std::vector<std::string>& found)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    const NodePartners partners(pair);
    std::map<std::string_view, NodeId> named; // what is said of it may be made in two steps, and have no pair
    for (size_t n = 0; n < f.nodes().size(); ++n)
        if (!f.nodes()[n].name.empty())
            named.emplace(f.nodes()[n].name, NodeId(n));
    for (size_t n = 0; n < q.nodes().size(); ++n) {
        NodeId partner = partners.of(NodeId(n));
        if (const auto same = named.find(q.nodes()[n].name); !partner.valid() && same != named.end())
            partner = same->second;
        const std::string type = floatOpType(q.nodes()[n]);
        if (partner.valid() && f.node(partner).opType != type && isOneOf(type) && isOneOf(f.node(partner).opType))
            found.push_back(
                fmt::format("'{}' is a {}, in the float model a {}", q.nodes()[n].name, type, f.node(partner).opType));
    }
}

} // namespace

std::vector<std::string> functionDifferences(const ComparePair& pair)
{
    std::vector<std::string> found;
    findGelus(pair.floatPlan->graph(), pair.quantPlan->graph(), found);
    for (std::string& text : attributeDifferences(pair, AttributeKind::Numbers))
        found.push_back(std::move(text));
    findActivations(pair, found);
    return found;
}

} // namespace qs
