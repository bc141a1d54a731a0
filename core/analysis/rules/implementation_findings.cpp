// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include "core/base/text/grouped_digits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

/// What a runtime's arithmetic does to the file, seen only under an integer profile.
namespace qs {

namespace {

/// The row whose quantizer closes the unit around a node of the quantized file.
std::optional<size_t> rowOfNode(const Comparison& c, NodeId quantNode)
{
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (c.activations[i].quantNode == quantNode && c.activations[i].implementation && firstOfQuantizer(c, i))
            return i;
    return std::nullopt;
}

void addDifference(Finding& f, const ActivationRow& row)
{
    f.evidence.push_back(evidence("off_by_one", row.implementation->offByOne));
    f.evidence.push_back(evidence("beyond", row.implementation->beyond));
}

/// Worst is the unit whose own sums lose most, not the one that passes on most of what was lost before it.
void rankBySums(Finding& f, const ActivationRow& row)
{
    const Number noise = row.implementation->noisePower;
    if (!noise || !row.signalPower || *row.signalPower <= 0)
        return;
    f.rank = *noise / *row.signalPower;
    if (f.rank <= 0)
        return;
    const double db = -10 * std::log10(f.rank);
    f.summary += fmt::format(" From the same codes that alone leaves {:.1f} dB.", db);
    f.evidence.push_back(evidence("saturation_sqnr_db", db, "dB"));
}

} // namespace

void findSaturatingAccumulation(const Comparison& c, std::vector<Finding>& found)
{
    for (const SaturationRow& s : c.saturation) {
        const uint64_t pairs = std::accumulate(s.saturated.begin(), s.saturated.end(), uint64_t(0));
        if (pairs == 0)
            continue;
        const auto row = rowOfNode(c, s.quantNode);
        const bool harmful = row && c.activations[*row].implementation->beyond > 0;
        Finding f = row ? activationFinding(c, *row, Rule::SaturatingAccumulation)
                        : makeFinding(Rule::SaturatingAccumulation);
        if (harmful)
            f.severity = Severity::Warning;
        f.node = s.node; // that sums, not the activation that ends its unit
        const auto worst = std::ranges::max_element(s.saturated);
        const size_t channels
            = static_cast<size_t>(std::ranges::count_if(s.saturated, [](uint64_t count) { return count > 0; }));
        f.title = ruleTitle(f.rule, f.node);
        f.summary
            = fmt::format("{} of {} pairs of products do not fit 16 bits, in {} of {} channels; most of them ({}) "
                          "in channel {}.",
                groupedDigits(pairs), groupedDigits(s.pairs), channels, s.saturated.size(), groupedDigits(*worst),
                worst - s.saturated.begin());
        f.evidence.push_back(evidence("saturated_pairs", double(pairs)));
        f.evidence.push_back(evidence("pairs", double(s.pairs)));
        f.evidence.push_back(evidence("channels", double(channels)));
        f.evidence.push_back(evidence("worst_channel", double(worst - s.saturated.begin())));
        f.evidence.push_back(evidence("worst_channel_pairs", double(*worst)));
        if (row) {
            addDifference(f, c.activations[*row]);
            rankBySums(f, c.activations[*row]);
        }
        f.change = { RemedyKind::ReduceRange, f.node, {}, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

void findImplementationDiffers(const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        const bool saturates = std::ranges::any_of(c.saturation, [&](const SaturationRow& s) {
            return s.quantNode == row.quantNode
                && std::ranges::any_of(s.saturated, [](uint64_t count) { return count > 0; });
        });
        if (!row.implementation || row.implementation->beyond <= 0 || saturates || !firstOfQuantizer(c, i))
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
