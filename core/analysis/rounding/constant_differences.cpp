// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/constant_differences.h"

#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rounding/precision.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace qs {

namespace {

constexpr double kSameScalar = 1e-3; ///< relatively: the same number, written in another type
constexpr double kFloat16Step = 6e-8; ///< of the smallest numbers of float16
constexpr double kMasksEverything = -1000; ///< nothing is left of what is so far below the rest

bool isOneOfTypes(std::span<const std::string_view> types, const std::string& type)
{
    return std::ranges::find(types, type) != types.end();
}

/// Its inputs may stand in any order.
bool readsInAnyOrder(const std::string& type)
{
    constexpr std::array<std::string_view, 4> kTypes { "Add", "Mul", "Max", "Min" };
    return isOneOfTypes(kTypes, type);
}

bool isElementwise(const std::string& type)
{
    constexpr std::array<std::string_view, 4> kTypes { "Sub", "Div", "Pow", "Where" };
    return readsInAnyOrder(type) || isOneOfTypes(kTypes, type);
}

/// A stored number; null for all else.
const Tensor* numberAt(const Plan& plan, const Node& node, size_t slot)
{
    const Tensor* t = node.hasInput(slot) ? plan.constant(node.inputs[slot]) : nullptr;
    return t && t->count() == 1 && isFloat(t->dtype()) ? t : nullptr;
}

double roomOf(const Tensor& number)
{
    const auto precision = precisionOf(number.dtype());
    return 2 * roundingOf(precision.value_or(Precision::Float32));
}

bool isSameScalar(const Tensor& a, const Tensor& b)
{
    const double x = toDoubles(a)[0], y = toDoubles(b)[0];
    if (x == y || std::isnan(x) || std::isnan(y) || std::max(x, y) <= kMasksEverything)
        return true;
    const double room = std::max({ kSameScalar, roomOf(a), roomOf(b) });
    const double least = a.dtype() == DType::Float16 || b.dtype() == DType::Float16 ? kFloat16Step : 0;
    return std::fabs(x - y) <= std::max(least, room * std::max(std::fabs(x), std::fabs(y)));
}

/// One channel's bias, which is corrected and equalized as others are.
bool mayBeBias(const Plan& plan, const Node& node, const Tensor& number)
{
    const auto& dims = node.hasOutput(0) ? plan.facts().of(node.outputs[0]).dims : std::nullopt;
    return node.is("Add") && number.rank() > 0 && dims && !dims->empty() && dims->back().known()
        && dims->back().value == 1;
}

class ConstantComparer {
public:
    explicit ConstantComparer(const ComparePair& pair)
        : m_pair(pair)
        , m_partners(pair)
        , m_float(*pair.floatPlan)
        , m_quant(*pair.quantPlan)
    {
    }

    std::vector<FunctionDifference> all()
    {
        const auto& nodes = m_quant.graph().nodes();
        for (size_t n = 0; n < nodes.size(); ++n)
            if (isElementwise(nodes[n].opType) && !m_pair.quantView->isPlumbing(NodeId(n)))
                if (const NodeId partner = m_partners.of(NodeId(n)); partner.valid())
                    compare(partner, NodeId(n));
        for (const auto& [names, group] : m_groups)
            m_found[group.at].text = textOf(group);
        for (size_t n = 0; n < nodes.size(); ++n)
            if (nodes[n].opType.ends_with("Normalization"))
                findLostFactors(nodes[n]);
        return std::move(m_found);
    }

private:
    struct Group {
        size_t at = 0; ///< place in what was found
        std::string name, reader; ///< of the quantized file
        double own = 0, theirs = 0;
    };

    void compare(NodeId floatNode, NodeId quantNode)
    {
        const Node &f = m_float.graph().node(floatNode), &q = m_quant.graph().node(quantNode);
        if (f.opType != q.opType || f.domain != q.domain)
            return;
        if (!readsInAnyOrder(f.opType)) {
            for (size_t slot = 0; slot < std::min(f.inputs.size(), q.inputs.size()); ++slot)
                if (numberAt(m_float, f, slot) && numberAt(m_quant, q, slot))
                    compareAt({ floatNode, slot }, { quantNode, slot });
            return;
        }
        const auto own = onlySlot(m_quant, q), theirs = onlySlot(m_float, f);
        if (own && theirs)
            compareAt({ floatNode, *theirs }, { quantNode, *own });
    }

    struct Place {
        NodeId node;
        size_t slot;
    };

    void compareAt(Place floatPlace, Place quantPlace)
    {
        const NodeId floatNode = floatPlace.node, quantNode = quantPlace.node;
        const Node &f = m_float.graph().node(floatNode), &q = m_quant.graph().node(quantNode);
        const Tensor &y = *numberAt(m_quant, q, quantPlace.slot), &x = *numberAt(m_float, f, floatPlace.slot);
        const ValueId name = q.inputs[quantPlace.slot];
        if (isSameScalar(x, y) || mayBeBias(m_float, f, x) || m_pair.quantView->ofValue(name)
            || m_pair.quantView->ofQuantized(name))
            return;
        const auto [group, first] = m_groups.try_emplace({ f.inputs[floatPlace.slot], name });
        if (first) {
            group->second = { m_found.size(), m_quant.graph().value(name).name,
                fmt::format("{} '{}'", q.opType, q.name), toDoubles(y)[0], toDoubles(x)[0] };
            m_found.push_back({ {}, floatNode, quantNode });
        }
        m_found[group->second.at].constants.push_back({ floatNode, floatPlace.slot, y });
    }

    static std::optional<size_t> onlySlot(const Plan& plan, const Node& node)
    {
        std::optional<size_t> found;
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (numberAt(plan, node, i)) {
                if (found)
                    return std::nullopt;
                found = i;
            }
        return found;
    }

    std::string textOf(const Group& group) const
    {
        const size_t more = m_found[group.at].constants.size() - 1;
        return fmt::format("the constant {}, which {}{}, is {:.4g}, in the float model {:.4g}", group.name,
            group.reader, more > 0 ? fmt::format(" and {} more read", more) : std::string(" reads"), group.own,
            group.theirs);
    }

    /// The normalization has one factor everywhere, and its result is what the float model has before its own factors.
    void findLostFactors(const Node& node)
    {
        const size_t slot = node.opType.starts_with("Skip") ? 2 : 1;
        const Tensor* own = node.hasInput(slot) ? m_quant.constant(node.inputs[slot]) : nullptr;
        if (!own || !isFloat(own->dtype()) || own->count() < 2 || !node.hasOutput(0) || !hasOneNumber(*own))
            return;
        const auto& values = m_pair.alignment->values;
        const auto made = std::ranges::find(values, node.outputs[0], &ValuePair::quantValue);
        if (made == values.end())
            return;
        const auto multiplies
            = [](const Graph& graph, const Use& use) { return use.node.valid() && graph.node(use.node).is("Mul"); };
        const Graph &f = m_float.graph(), &q = m_quant.graph();
        if (std::ranges::any_of(q.value(node.outputs[0]).uses, [&](const Use& use) { return multiplies(q, use); }))
            return; // perhaps by these factors
        std::vector<NodeId> factors; // the result's partner is read by it, or made by it
        for (const Use& use : f.value(made->floatValue).uses)
            factors.push_back(use.node);
        factors.push_back(f.value(made->floatValue).producer);
        for (const NodeId id : factors) {
            if (!id.valid() || !f.node(id).is("Mul") || !f.node(id).hasOutput(0) || f.node(id).inputs.size() != 2)
                continue;
            const Node& factor = f.node(id);
            const size_t other = m_float.constant(factor.inputs[0]) ? 0 : 1;
            const ValueId open = factor.outputs[0] == made->floatValue ? factor.inputs[1 - other] : factor.outputs[0];
            const Tensor* theirs = m_float.constant(factor.inputs[other]);
            if (std::ranges::find(values, open, &ValuePair::floatValue) != values.end() || !theirs
                || !isFloat(theirs->dtype()) || theirs->count() != own->count() || hasOneNumber(*theirs))
                continue;
            m_found.push_back(
                { fmt::format("{} '{}' has nothing but {:.4g} for factors ({}); the float model has {} "
                              "there, by which '{}' multiplies",
                      node.opType, node.name, toDoubles(*own)[0], m_quant.graph().value(node.inputs[slot]).name,
                      m_float.graph().value(factor.inputs[other]).name, factor.name),
                    id, m_quant.graph().value(node.outputs[0]).producer, {}, { { id, other, *own } } });
        }
    }

    static bool hasOneNumber(const Tensor& t)
    {
        const std::vector<double> values = toDoubles(t);
        return std::ranges::all_of(values, [&](double v) { return v == values[0]; });
    }

    const ComparePair& m_pair;
    const FunctionPartners m_partners;
    const Plan &m_float, &m_quant;
    std::map<std::pair<ValueId, ValueId>, Group> m_groups; ///< by constants of both files
    std::vector<FunctionDifference> m_found;
};

} // namespace

std::vector<FunctionDifference> constantDifferences(const ComparePair& pair) { return ConstantComparer(pair).all(); }

namespace {

constexpr int64_t kLargestTable = int64_t(1) << 26; ///< elements: it is held twice more
constexpr double kOtherRow = 0.01; ///< of a row's size: float16 and bfloat16 round by less
constexpr size_t kNamedStretches = 4;

/// A matrix, or a stack of one.
struct TableSize {
    size_t rows = 0, length = 0;
};
std::optional<TableSize> tableSize(const Tensor& t)
{
    const auto first = std::ranges::find_if(t.shape(), [](int64_t d) { return d != 1; });
    if (first == t.shape().end() || first + 1 == t.shape().end() || *first < 1 || t.count() > kLargestTable)
        return std::nullopt;
    return TableSize { size_t(*first), size_t(t.count() / *first) };
}

struct RowSquares {
    double size = 0, between = 0;
};

/// Rows [first, last) that are other ones, and how far all of these are apart, relatively.
struct OtherTableRows {
    std::vector<std::pair<size_t, size_t>> stretches;
    double distance = 0;
};

/// What lets nothing through a mask in either is the same.
OtherTableRows otherTableRows(const std::vector<float>& x, const std::vector<float>& y, const TableSize& table)
{
    std::vector<RowSquares> rows(table.rows);
    double all = 0;
    for (size_t i = 0; i < table.rows * table.length; ++i) {
        if (x[i] == y[i] || (isMasking(x[i]) && isMasking(y[i])))
            continue;
        RowSquares& row = rows[i / table.length];
        row.between += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
    }
    for (size_t i = 0; i < table.rows * table.length; ++i)
        if (!isMasking(x[i])) {
            rows[i / table.length].size += double(x[i]) * x[i];
            all += double(x[i]) * x[i];
        }
    const double least = kOtherRow * kOtherRow * all / double(table.rows); // of rows of zeros
    OtherTableRows others;
    RowSquares sum;
    for (size_t r = 0; r < table.rows; ++r) {
        if (!(rows[r].between > kOtherRow * kOtherRow * std::max(rows[r].size, least)))
            continue;
        sum.size += rows[r].size;
        sum.between += rows[r].between;
        if (others.stretches.empty() || others.stretches.back().second != r)
            others.stretches.emplace_back(r, r);
        others.stretches.back().second = r + 1;
    }
    others.distance = sum.size > 0 ? std::sqrt(sum.between / sum.size) : HUGE_VAL;
    return others;
}

std::string rowsText(const std::string& name, const OtherTableRows& others, size_t rows)
{
    std::vector<std::string> named;
    size_t rest = 0;
    for (const auto& [first, last] : others.stretches) {
        if (named.size() == kNamedStretches)
            rest += last - first;
        else
            named.push_back(last == first + 1 ? std::to_string(first) : fmt::format("{} to {}", first, last - 1));
    }
    const bool one = others.stretches.size() == 1 && others.stretches[0].second == others.stretches[0].first + 1;
    std::string text = fmt::format("the table {} is another one in row{} {}{} of {}", name, one ? "" : "s",
        fmt::join(named, ", "), rest > 0 ? fmt::format(" and {} more", rest) : std::string(), rows);
    return std::isfinite(others.distance) ? text + fmt::format(" ({:.2g} of their size)", others.distance) : text;
}

} // namespace

std::vector<FunctionDifference> rowDifferences(const ComparePair& pair, const PrecisionStep& step)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    std::vector<FunctionDifference> found;
    for (const WeightRounding& r : step.roundings) {
        const ValueId x = f.findValue(r.name), y = q.findValue(r.quantizedName);
        const Tensor* a = x.valid() ? pair.floatPlan->constant(x) : nullptr;
        const Tensor* b = y.valid() ? pair.quantPlan->constant(y) : nullptr;
        const bool coarse = r.onGrid || (r.precision && *r.precision >= Precision::Float8E4M3);
        const auto table = a && b && !coarse ? tableSize(*a) : std::nullopt;
        if (!table || a->count() != b->count())
            continue;
        const OtherTableRows others = otherTableRows(toFloats(*a), toFloats(*b), *table);
        if (others.stretches.empty())
            continue;
        FunctionDifference here { rowsText(r.name, others, table->rows) };
        for (const Use& use : f.value(x).uses)
            if (use.node.valid())
                here.constants.push_back({ use.node, use.slot, *b });
        if (here.constants.empty())
            continue;
        here.floatNode = here.constants.front().floatNode;
        found.push_back(std::move(here));
    }
    return found;
}

} // namespace qs
