// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/remedy_verdict.h"

#include "core/project/search/change_kinds.h"
#include "core/project/search/remedy_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

bool costsSamples(const Finding& f)
{
    // Much closer to the float model: what that costs is the float model's own.
    const Number points = f.measuredAccuracyGain ? f.measuredAccuracyGain : f.measuredTop1Gain;
    const double least = std::min(points.value_or(0), f.measuredAgreementGain.value_or(0));
    return *f.measuredGainDb < GainLimits::closerDb && least < -GainLimits::harmfulPoints;
}

} // namespace

std::vector<Remedy> triedChanges(const Finding& f)
{
    if (f.change.kind != RemedyKind::Requantize || f.places.empty())
        return changesOf(f);
    std::vector<Remedy> changes;
    for (const FindingPlace& place : f.places)
        if (place.change.kind != RemedyKind::None)
            changes.push_back(place.change);
    changes.insert(changes.end(), f.together.begin(), f.together.end());
    return changes.empty() ? changesOf(f) : changes;
}

void take(Finding& f, const Trial& trial)
{
    f.measuredGainDb = trial.gainDb;
    f.measuredAccuracyGain = trial.accuracyGain;
    f.measuredTop1Gain = trial.top1Gain;
    f.measuredAgreementGain = trial.agreementGain;
    f.agreementOf = trial.agreementOf;
    f.triedInFile = trial.inFile;
}

Finding taken(Finding f, const Trial& trial)
{
    take(f, trial);
    return f;
}

bool harms(const Finding& f) { return *f.measuredGainDb < 0 || costsSamples(f); }

bool helps(const Finding& f)
{
    if (f.rule == Rule::SlowForm) // it is there for time
        return !harms(f);
    if (f.change.kind == RemedyKind::StaticFormat) // so is that
        return *f.measuredGainDb > -GainLimits::nothingDb && !costsSamples(f);
    const bool promised = f.expectedGainDb.value_or(0) > GainLimits::promisedDb;
    const bool agrees = f.measuredAgreementGain.value_or(0) > GainLimits::harmfulPoints;
    return !harms(f) && (agrees || *f.measuredGainDb >= (promised ? GainLimits::worthDb : GainLimits::nothingDb));
}

std::string gainText(const Finding& f)
{
    const double gain = *f.measuredGainDb;
    std::string text = std::abs(gain) < GainLimits::nothingDb ? "gains nothing"
        : gain < 0                                            ? fmt::format("loses {:.1f} dB", -gain)
                                                              : fmt::format("gains {:.1f} dB", gain);
    if (f.measuredAccuracyGain.value_or(0) < -GainLimits::harmfulPoints)
        text += fmt::format(" and costs {:.1f} % of the samples", -*f.measuredAccuracyGain);
    else if (!f.measuredAccuracyGain && f.measuredTop1Gain.value_or(0) < -GainLimits::harmfulPoints)
        text += fmt::format(" and costs {:.1f} points of samples in the float model's class", -*f.measuredTop1Gain);
    else if (f.measuredAgreementGain.value_or(0) < -GainLimits::harmfulPoints)
        text += fmt::format(" and costs {:.1f} points of agreement", -*f.measuredAgreementGain);
    return text + " at the output";
}

void takeBack(Finding& f)
{
    f.change = {};
    f.together.clear();
    for (FindingPlace& place : f.places)
        place.change = {};
}

void withdraw(Finding& f, bool elsewhere)
{
    std::string what = f.remedy;
    if (what.ends_with('.'))
        what.pop_back();
    const std::string expected = f.expectedGainDb.value_or(0) > GainLimits::promisedDb
        ? fmt::format(", where {:.1f} dB were expected at the tensor", *f.expectedGainDb)
        : std::string();
    f.remedy = elsewhere ? fmt::format("Part of a remedy that mends several causes; alone it {}.", gainText(f))
                         : fmt::format("Not offered, since it was tried and {}{}: {}.", gainText(f), expected, what);
    takeBack(f);
}

bool refuted(const Finding& f)
{
    const bool constant = f.rule == Rule::WrongBiasScale || f.rule == Rule::WeightsDiffer;
    return constant && f.measuredGainDb.value_or(0) < -GainLimits::costlyDb;
}

void offer(Finding& f)
{
    const auto cut = [&](Number& expected) {
        if (expected)
            expected = std::min(*expected, *f.measuredGainDb);
    };
    cut(f.expectedGainDb);
    for (FindingPlace& place : f.places)
        cut(place.expectedGainDb);
}

void sortTried(std::vector<Finding>& findings)
{
    const auto before = [](const Finding& a, const Finding& b) {
        const bool offersA = a.change.kind != RemedyKind::None, offersB = b.change.kind != RemedyKind::None;
        return offersA != offersB ? offersA : *a.measuredGainDb > *b.measuredGainDb;
    };
    for (const Severity severity : { Severity::Error, Severity::Warning, Severity::Note }) {
        std::vector<size_t> places;
        std::vector<Finding> tried;
        for (size_t i = 0; i < findings.size(); ++i)
            if (findings[i].severity == severity && findings[i].measuredGainDb) {
                places.push_back(i);
                tried.push_back(findings[i]);
            }
        std::ranges::stable_sort(tried, before);
        for (size_t i = 0; i < places.size(); ++i)
            findings[places[i]] = std::move(tried[i]);
    }
}

void setChanges(Finding& f, const std::vector<Remedy>& changes, bool hidden)
{
    f.change = changes.front();
    f.together.assign(changes.begin() + 1, changes.end());
    for (FindingPlace& place : f.places)
        place.change = {};
    f.remedy = remedySentence(changes, hidden);
}

void keepAsAdvice(Finding& f)
{
    f.change = {};
    f.measuredGainDb = f.measuredAccuracyGain = f.measuredTop1Gain = f.measuredAgreementGain = {};
}

} // namespace qs
