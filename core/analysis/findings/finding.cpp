// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/finding.h"

#include <cmath>

namespace qs {

namespace {

/// Changes of the whole recipe, whatever the place. One that keeps extreme constants does so everywhere in a recipe; in
/// a file each place is changed by itself.
bool concernsAll(RemedyKind kind)
{
    return kind != RemedyKind::SetRange && kind != RemedyKind::AsymmetricActivations && kind != RemedyKind::PerChannel
        && kind != RemedyKind::ExcludeNode && kind != RemedyKind::KeepActivations && kind != RemedyKind::FuseGemm
        && kind != RemedyKind::EightBitWeight && kind != RemedyKind::KeepExtremeConstants
        && kind != RemedyKind::StoreConstant && kind != RemedyKind::OpenClip;
}

} // namespace

Finding makeFinding(Rule rule, std::string_view place)
{
    Finding f;
    f.rule = rule;
    f.severity = ruleInfo(rule).severity;
    f.title = ruleTitle(rule, place);
    f.remedy = ruleRemedy(rule, place);
    return f;
}

EvidenceItem evidence(std::string key, double number, std::string unit)
{
    return { std::move(key), std::isfinite(number) ? std::optional(number) : std::nullopt, {}, std::move(unit) };
}

std::vector<FindingPlace> placesOf(const Finding& f)
{
    if (!f.places.empty())
        return f.places;
    return { { f.node, f.tensor, f.activation, f.weight, f.evidence, f.change, f.expectedGainDb, f.confidence } };
}

std::vector<Remedy> changesOf(const Finding& finding)
{
    std::vector<Remedy> changes;
    for (const FindingPlace& place : finding.places)
        if (place.change.kind != RemedyKind::None && !concernsAll(place.change.kind))
            changes.push_back(place.change);
    if (changes.empty())
        changes.push_back(finding.change);
    changes.insert(changes.end(), finding.together.begin(), finding.together.end());
    return changes;
}

} // namespace qs
