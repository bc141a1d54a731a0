// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/explanation_text.h"

#include "core/base/text/elided.h"
#include "core/base/text/one_line.h"
#include "core/report/format.h"
#include "core/report/text/text_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace qs {

namespace {

constexpr size_t kAll = 40; ///< so many terms are shown as they come
constexpr size_t kLargest = 24; ///< of more
constexpr size_t kVerbose = 4096;
constexpr size_t kTermWidth = 32;

std::string placeText(const Shape& at)
{
    std::string text;
    for (const int64_t i : at)
        text += (text.empty() ? "" : ", ") + std::to_string(i);
    return "[" + text + "]";
}

/// All digits that tell two float32 numbers apart.
std::string exactNumber(double value)
{
    return value == std::round(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.9g}", value);
}

std::string storedText(const ElementExplanation& e)
{
    if (!e.whole)
        return exactNumber(e.stored);
    return e.dtype == DType::UInt64 ? std::to_string(uint64_t(*e.whole)) : std::to_string(*e.whole);
}

std::string operandText(const Operand& operand)
{
    if (!operand.code)
        return text::number(operand.real, 5);
    const std::string codes = operand.zeroPoint == 0 ? std::to_string(*operand.code)
        : operand.zeroPoint < 0                      ? fmt::format("({} + {})", *operand.code, -operand.zeroPoint)
                                                     : fmt::format("({} - {})", *operand.code, operand.zeroPoint);
    return operand.scale ? codes + " = " + text::number(operand.real, 5) : codes;
}

double sizeOf(const ElementTerm& term) { return std::abs(term.a.real * (term.b ? term.b->real : 1)); }

std::vector<size_t> shownTerms(const ElementExplanation& e, bool verbose)
{
    std::vector<size_t> order(e.terms.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const size_t most = verbose ? kVerbose : kAll;
    if (order.size() <= most)
        return order;
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return sizeOf(e.terms[a]) > sizeOf(e.terms[b]); });
    order.resize(verbose ? kVerbose : kLargest);
    return order;
}

std::string header(const ElementExplanation& e)
{
    std::string out = fmt::format("{}{} = {}", oneLine(e.tensor), placeText(e.at), storedText(e));
    if (e.code && isInteger(e.dtype))
        out += e.scale ? fmt::format(", a code that stands for {}", exactNumber(e.real)) : ", a code";
    else if (e.code)
        out += fmt::format(", from code {}", *e.code);
    if (e.code && e.scale)
        out += fmt::format(" (scale {}, zero point {})", exactNumber(*e.scale), e.zeroPoint.value_or(0));
    out += fmt::format(
        "\n  {} of shape {}, arithmetic {}\n", dtypeName(e.dtype), shapeText(e.shape), profileName(e.profile));
    if (!e.opType.empty())
        out += fmt::format("  made by {} '{}'{}\n", oneLine(e.opType), oneLine(e.node),
            e.unitOperator.empty() ? std::string()
                                   : fmt::format(", fused with {} to {} on codes",
                                       text::counted(e.unitNodes.size() - 1, "node"), e.unitOperator));
    if (!e.note.empty())
        out += "  " + e.note + "\n";
    return out;
}

std::string relationText(const ElementExplanation& e)
{
    switch (e.relation) {
    case Relation::Products:
        return text::counted(e.terms.size(), "product");
    case Relation::Sum:
        return "sum of " + text::counted(e.terms.size(), "term");
    case Relation::Mean:
        return fmt::format("mean of {} over {}", text::counted(e.terms.size(), "element"), e.divisor);
    case Relation::Largest:
        return "largest of " + text::counted(e.terms.size(), "element");
    case Relation::Function:
        return "function of " + text::counted(e.terms.size(), "element");
    default:
        return "from";
    }
}

std::string sourcesText(const ElementExplanation& e)
{
    std::string out;
    for (const OperandSource& source : e.sources)
        out += fmt::format("  {}{} {}{}\n", source.constant ? "constant " : "",
            elided(oneLine(source.name), 2 * kTermWidth), shapeText(source.shape),
            source.twin.empty() ? std::string() : ", in the float network " + oneLine(source.twin));
    return out;
}

std::string termsText(const ElementExplanation& e, bool verbose)
{
    if (e.terms.empty())
        return e.sources.empty() ? std::string() : "inputs\n" + sourcesText(e);
    using Align = TextTable::Align;
    const bool products = e.relation == Relation::Products;
    const bool twins = std::ranges::any_of(e.terms, [](const ElementTerm& t) { return t.a.twin.has_value(); });
    const bool sums = products // floats are added up in another order
        && std::ranges::any_of(e.terms, [](const ElementTerm& t) { return t.sum.has_value(); });
    std::vector<TextTable::Column> columns { { "term" }, { "a at", Align::Left }, { "a" } };
    if (twins)
        columns.push_back({ "float a" });
    if (products)
        columns.insert(columns.end(), { { "b at", Align::Left }, { "b" } });
    if (products && twins)
        columns.push_back({ "float b" });
    if (products)
        columns.push_back({ "product" });
    if (sums)
        columns.push_back({ "sum" });
    columns.push_back({ "", Align::Left });
    TextTable table(columns);
    const auto shown = shownTerms(e, verbose);
    for (const size_t i : shown) {
        const ElementTerm& t = e.terms[i];
        std::vector<std::string> cells { std::to_string(i),
            placeText(placeOf(e.sources[t.a.source].shape, t.a.element)), operandText(t.a) };
        if (twins)
            cells.push_back(text::number(t.a.twin, 5));
        if (products) {
            cells.push_back(placeText(placeOf(e.sources[t.b->source].shape, t.b->element)));
            cells.push_back(operandText(*t.b));
        }
        if (products && twins)
            cells.push_back(text::number(t.b->twin, 5));
        if (products)
            cells.push_back(t.product ? std::to_string(*t.product) : text::number(t.a.real * t.b->real, 5));
        if (sums)
            cells.push_back(t.sum ? std::to_string(*t.sum) : "");
        cells.push_back(t.pair ? "saturates" : t.chosen ? "this one" : t.sign < 0 ? "taken off" : "");
        table.add(std::move(cells));
    }
    std::string out = relationText(e) + "\n" + sourcesText(e) + table.text("  ");
    if (shown.size() < e.terms.size())
        out += fmt::format("  the {} largest of {}; --json - has all of them\n", shown.size(), e.terms.size());
    if (e.bias)
        out += fmt::format("  bias {}\n", operandText(*e.bias));
    return out;
}

std::string pairsText(const ElementExplanation& e)
{
    if (!e.pairs)
        return {};
    std::string out = fmt::format("sums of two products in 16 bits: {} of {} saturate\n", e.saturated.size(), *e.pairs);
    for (size_t i = 0; i < std::min(e.saturated.size(), kLargest); ++i) {
        const SaturatedPair& p = e.saturated[i].codes;
        out += fmt::format("  products {} and {}: {} * {} + {} * {} = {}, of which {} is kept\n", 2 * p.index,
            2 * p.index + 1, p.a0, p.w0, p.a1, p.w1, p.sum(), p.kept());
    }
    return out;
}

std::string stepsText(const ElementExplanation& e)
{
    if (e.steps.empty())
        return {};
    TextTable table({ { "step", TextTable::Align::Left }, { "value" } });
    for (const ExplanationStep& step : e.steps)
        table.add({ step.name, exactNumber(step.value) });
    std::string out = "steps\n" + table.text("  ");
    if (e.multiplier)
        out += fmt::format("  multiplier {}\n", exactNumber(*e.multiplier));
    if (e.clipped)
        out += "  the code is the end of its range: rounding alone would go beyond it\n";
    if (e.confirmed && !*e.confirmed)
        out += "  these steps do not give the engine's number: please report this\n";
    return out;
}

/// The operands that bring most of it, at most five.
std::string contributorsText(const ElementExplanation& e)
{
    std::vector<std::pair<double, const Operand*>> parts;
    for (const ElementTerm& term : e.terms) {
        if (term.fromA)
            parts.emplace_back(*term.fromA, &term.a);
        if (term.fromB && term.b)
            parts.emplace_back(*term.fromB, &*term.b);
    }
    std::erase_if(parts, [](const auto& part) { return part.first == 0; });
    std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    parts.resize(std::min<size_t>(parts.size(), 5));
    if (parts.size() < 2)
        return {};
    std::string out = "  most of it comes from\n";
    for (const auto& [part, operand] : parts)
        out += fmt::format("    {}{}: {}\n", elided(e.sources[operand->source].name, kTermWidth),
            placeText(placeOf(e.sources[operand->source].shape, operand->element)), text::number(part, 4));
    return out;
}

std::string differenceText(const ElementExplanation& e)
{
    if (!e.difference)
        return {};
    const ElementDifference& d = *e.difference;
    TextTable table({ { "part", TextTable::Align::Left }, { "value" } });
    const std::pair<const char*, double> parts[] = { { "carried in by inputs", d.input }, { "weights", d.weight },
        { "bias", d.bias }, { "16-bit sums that saturate", d.saturation }, { "rounding to a code", d.rounding },
        { "clipping to the codes", d.clipping }, { "float sums in another order", d.summation } };
    for (const auto& [name, value] : parts)
        if (value != 0)
            table.add({ name, text::number(value, 4) });
    std::string out = fmt::format("difference to the float network{}: {} - {} = {}\n",
        d.floatTensor.empty() ? "" : "'s " + oneLine(d.floatTensor), exactNumber(e.real), exactNumber(d.reference),
        text::number(d.total, 4));
    if (d.total != 0)
        out += table.text("  ") + contributorsText(e);
    return d.reservation.empty() ? out : out + "  " + d.reservation + "\n";
}

} // namespace

std::string explanationText(const ElementExplanation& e, bool verbose)
{
    std::string out = header(e);
    for (const std::string& part : { termsText(e, verbose), pairsText(e), stepsText(e), differenceText(e) })
        if (!part.empty())
            out += "\n" + part;
    if (e.behind)
        out += "\nbehind it: " + explanationText(*e.behind, verbose);
    return out;
}

} // namespace qs
