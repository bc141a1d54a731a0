// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/code_difference.h"
#include "core/analysis/rules/findings.h"

#include "core/base/text/grouped_digits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

/// What a runtime's arithmetic does to the file, seen only under an integer profile.
namespace qs {

namespace {

/// What sums that may saturate end in: codes, or floats where none follow.
class EndsOfSums {
public:
    explicit EndsOfSums(const ComparePair& pair)
        : m_pair(pair)
    {
        if (pair.writtenPlan)
            m_floats = saturatingSums(*pair.quantPlan);
    }

    /// The node whose sums end in the codes of a row's quantizer; invalid when there is none.
    NodeId nodeOf(const ActivationRow& row) const
    {
        const ValueId codes
            = row.implementation && row.quantizer ? m_pair.quantView->quantizers()[*row.quantizer].codes : ValueId();
        const NodeId last = codes.valid() ? m_pair.quantPlan->graph().value(codes).producer : NodeId();
        return last.valid() ? nodeOfSums(*m_pair.quantPlan, last) : NodeId();
    }

    std::optional<size_t> rowOf(const Comparison& c, NodeId node) const
    {
        for (size_t i = 0; i < c.activations.size(); ++i)
            if (node.valid() && nodeOf(c.activations[i]) == node && firstOfQuantizer(c, i))
                return i;
        const auto sums = std::ranges::find_if(
            m_floats, [&](const SaturatingSums& known) { return nodeOfSums(*m_pair.quantPlan, known.last) == node; });
        const auto row = sums == m_floats.end() ? c.activations.end()
                                                : std::ranges::find_if(c.activations, [&](const ActivationRow& a) {
                                                      return a.noise.kernel && sums->endsIn(a.quantValue);
                                                  });
        return row == c.activations.end() ? std::nullopt : std::optional(size_t(row - c.activations.begin()));
    }

private:
    const ComparePair& m_pair;
    std::vector<SaturatingSums> m_floats;
};

/// Of a node's own sums: codes are more than one step off, or floats owe this share of their noise to it.
constexpr double kShareOfNoise = 0.1;

Number noiseOfSums(const ActivationRow& row)
{
    return row.implementation ? row.implementation->noisePower : row.noise.kernel;
}

bool harms(const ActivationRow& row)
{
    if (row.implementation)
        return row.implementation->beyond > 0;
    const double rmse = row.accumulated.rmse.value_or(0);
    return row.noise.kernel.value_or(0) > 0 && *row.noise.kernel >= kShareOfNoise * rmse * rmse;
}

void addDifference(Finding& f, const ActivationRow& row)
{
    f.evidence.push_back(evidence("off_by_one", row.implementation->offByOne));
    f.evidence.push_back(evidence("beyond", row.implementation->beyond));
}

/// Worst is the unit whose own sums lose most, not the one that passes on most of what was lost before it.
void rankBySums(Finding& f, const Number& noise, const Number& signal)
{
    if (!noise || !signal || *signal <= 0)
        return;
    f.rank = *noise / *signal;
    if (f.rank <= 0)
        return;
    const double db = -10 * std::log10(f.rank);
    f.evidence.push_back(evidence("saturation_sqnr_db", db, "dB"));
}

/// In which pairs saturate.
size_t saturatedChannels(const SaturationRow& row)
{
    return size_t(std::ranges::count_if(row.saturated, [](uint64_t count) { return count > 0; }));
}

} // namespace

std::string saturatedPairsText(const SaturationRow& row, std::span<const EvidenceItem> evidence)
{
    const auto worst = std::ranges::max_element(row.saturated);
    std::string text = fmt::format("{} of {} pairs of products do not fit 16 bits, in {} of {} channels; most of them "
                                   "({}) in channel {}.",
        groupedDigits(row.saturatedPairs()), groupedDigits(row.pairs), saturatedChannels(row), row.saturated.size(),
        groupedDigits(*worst), worst - row.saturated.begin());
    const auto left = std::ranges::find(evidence, "saturation_sqnr_db", &EvidenceItem::key);
    return left == evidence.end() || !left->number
        ? text
        : text + fmt::format(" From the same codes that alone leaves {:.1f} dB.", *left->number);
}

void findSaturatingAccumulation(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const EndsOfSums ends(pair);
    for (const SaturationRow& s : c.saturation) {
        const uint64_t pairs = std::accumulate(s.saturated.begin(), s.saturated.end(), uint64_t(0));
        if (pairs == 0)
            continue;
        const auto row = ends.rowOf(c, s.quantNode);
        const bool harmful = row && harms(c.activations[*row]);
        Finding f = row ? activationFinding(c, *row, Rule::SaturatingAccumulation)
                        : makeFinding(Rule::SaturatingAccumulation);
        if (harmful)
            f.severity = Severity::Warning;
        f.node = s.node; // that sums, not the activation that ends its unit
        const auto worst = std::ranges::max_element(s.saturated);
        f.title = ruleTitle(f.rule, f.node);
        f.evidence.push_back(evidence("saturated_pairs", double(pairs)));
        f.evidence.push_back(evidence("pairs", double(s.pairs)));
        f.evidence.push_back(evidence("channels", double(saturatedChannels(s))));
        f.evidence.push_back(evidence("worst_channel", double(worst - s.saturated.begin())));
        f.evidence.push_back(evidence("worst_channel_pairs", double(*worst)));
        if (row && c.activations[*row].implementation)
            addDifference(f, c.activations[*row]);
        if (row)
            rankBySums(f, noiseOfSums(c.activations[*row]), c.activations[*row].signalPower);
        f.summary = saturatedPairsText(s, f.evidence);
        f.change = { RemedyKind::ReduceRange, f.node, {}, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

void findImplementationDiffers(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const EndsOfSums ends(pair);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!row.implementation || row.implementation->beyond <= 0 || !firstOfQuantizer(c, i))
            continue;
        const NodeId sums = ends.nodeOf(row);
        if (sums.valid() && std::ranges::any_of(c.saturation, [&](const SaturationRow& s) {
                return s.quantNode == sums && s.saturatedPairs() > 0;
            }))
            continue;
        Finding f = activationFinding(c, i, Rule::ImplementationDiffers);
        f.summary = fmt::format(
            "From the same codes, {:.2f} % of its codes come out more than one step away, {:.2f} % one step.",
            100 * row.implementation->beyond, 100 * row.implementation->offByOne);
        addDifference(f, row);
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

} // namespace qs
