// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fuse/pattern_graph.h"

#include <numbers>

namespace qs {

namespace {

constexpr double kRootOfTwo = std::numbers::sqrt2;
constexpr double kCubic = 0.044715; ///< of the approximation by tanh
const double kOuter = 0.7978845608028654; ///< sqrt(2 / pi)

/// x where t = x / sqrt(2).
std::string erfArgument(const PatternGraph& graph, const std::string& t, std::set<size_t>& used)
{
    if (const DraftNode* quotient = graph.made(t, "Div", used))
        return graph.isScalar(quotient->inputs[1], kRootOfTwo) ? quotient->inputs[0] : std::string();
    const DraftNode* product = graph.made(t, "Mul", used);
    return product ? besideScalar(graph, *product, 1 / kRootOfTwo) : std::string();
}

/// x where c = x * x * x.
std::string cubed(const PatternGraph& graph, const std::string& c, std::set<size_t>& used)
{
    if (const DraftNode* power = graph.made(c, "Pow", used))
        return graph.isScalar(power->inputs[1], 3) ? power->inputs[0] : std::string();
    const DraftNode* outer = graph.made(c, "Mul", used);
    for (size_t i = 0; outer && outer->inputs.size() == 2 && i < 2; ++i) {
        std::set<size_t> inner;
        const DraftNode* square = graph.made(outer->inputs[i], "Mul", inner);
        const std::string& x = outer->inputs[1 - i];
        if (square && square->inputs.size() == 2 && square->inputs[0] == x && square->inputs[1] == x) {
            used.merge(inner);
            return x;
        }
    }
    return {};
}

/// x where t = sqrt(2 / pi) * (x + 0.044715 * x^3).
std::string tanhArgument(const PatternGraph& graph, const std::string& t, std::set<size_t>& used)
{
    const DraftNode* outer = graph.made(t, "Mul", used);
    const std::string sum = outer ? besideScalar(graph, *outer, kOuter) : std::string();
    const DraftNode* plus = sum.empty() ? nullptr : graph.made(sum, "Add", used);
    for (size_t i = 0; plus && plus->inputs.size() == 2 && i < 2; ++i) {
        std::set<size_t> inner;
        const DraftNode* cubic = graph.made(plus->inputs[i], "Mul", inner);
        const std::string power = cubic ? besideScalar(graph, *cubic, kCubic) : std::string();
        if (!power.empty() && cubed(graph, power, inner) == plus->inputs[1 - i]) {
            used.merge(inner);
            return plus->inputs[1 - i];
        }
    }
    return {};
}

/// From a = 1 + f(x) to 0.5 * x * a, whatever is multiplied first; the output's name, empty where it is not that.
std::string halfProduct(const PatternGraph& graph, const std::string& a, const std::string& x, std::set<size_t>& used)
{
    const DraftNode* first = graph.onlyReader(a, "Mul", used);
    if (!first)
        return {};
    const std::string other = otherInput(*first, a);
    const std::string& product = first->outputs[0];
    if (other == x || graph.isScalar(other, 0.5)) {
        const DraftNode* second = graph.onlyReader(product, "Mul", used);
        if (!second)
            return {};
        const std::string rest = otherInput(*second, product);
        const bool fits = other == x ? graph.isScalar(rest, 0.5) : rest == x;
        return fits ? second->outputs[0] : std::string();
    }
    const DraftNode* half = graph.made(other, "Mul", used);
    return half && besideScalar(graph, *half, 0.5) == x ? product : std::string();
}

std::optional<FoundPattern> around(const PatternGraph& graph, size_t n)
{
    const DraftNode& node = graph.draft().nodes[n];
    const bool exact = node.is("Erf");
    if ((!exact && !node.is("Tanh")) || node.inputs.empty())
        return std::nullopt;
    FoundPattern found;
    found.nodes.insert(n);
    const std::string x
        = exact ? erfArgument(graph, node.inputs[0], found.nodes) : tanhArgument(graph, node.inputs[0], found.nodes);
    const DraftNode* sum = x.empty() ? nullptr : graph.onlyReader(node.outputs[0], "Add", found.nodes);
    if (!sum || besideScalar(graph, *sum, 1) != node.outputs[0])
        return std::nullopt;
    const std::string result = halfProduct(graph, sum->outputs[0], x, found.nodes);
    if (result.empty())
        return std::nullopt;
    found.last = graph.links().producer(result);
    found.node = { NodeId(), "", "Gelu", "", { x }, {}, {} };
    found.node.attributes.set("approximate", std::string(exact ? "none" : "tanh"));
    return found;
}

} // namespace

Result<PassReport> fuseGelu(GraphDraft& draft)
{
    PassReport report { "fuse_gelu", 0, {} };
    constexpr int64_t kFirst = 20;
    std::vector<FoundPattern> found;
    {
        const PatternGraph graph(draft);
        for (size_t n = 0; n < draft.nodes.size(); ++n)
            if (auto pattern = around(graph, n))
                found.push_back(std::move(*pattern));
    }
    const auto opset = draft.opsets.find("");
    applyPatterns(draft, std::move(found), opset != draft.opsets.end() && opset->second >= kFirst, report);
    return report;
}

} // namespace qs
