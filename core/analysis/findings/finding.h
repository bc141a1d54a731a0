// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"
#include "core/analysis/findings/rule.h"
#include "core/analysis/measure/number.h"
#include "core/analysis/tasks/output_task.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Evidence is a list of named numbers or texts, in the order to show.
struct EvidenceItem {
    std::string key; ///< snake_case
    std::optional<double> number;
    std::string text; ///< when it is no number
    std::string unit; ///< "dB", "%" ... for people
};

/// Where a finding holds.
struct FindingPlace {
    std::string node, tensor; ///< names of the float file where there is a partner
    std::optional<size_t> activation, weight; ///< row index
    std::vector<EvidenceItem> evidence;
    Remedy change;
    Number expectedGainDb;
    double confidence = 1;
};

/// A rule that fired.
struct Finding {
    Rule rule = {};
    Severity severity = Severity::Note;
    std::string title; ///< for people: "Calibration does not fit the input"
    std::string summary; ///< one or two sentences with the numbers
    std::string node, tensor; ///< names of the float file where there is a partner
    std::optional<size_t> activation; ///< row index
    std::optional<size_t> weight;
    std::vector<EvidenceItem> evidence;
    std::string remedy; ///< an imperative sentence
    Remedy change; ///< the same as a change of the recipe
    Number expectedGainDb; ///< of the SQNR of this tensor, by what was measured of it; tried: at most what that gave
    Number measuredGainDb; ///< of the SQNR of the worst output, where the remedy was tried
    Number measuredAccuracyGain; ///< samples right, percentage points; null without labels
    Number measuredTop1Gain; ///< samples with the float model's class, percentage points
    Number measuredAgreementGain; ///< of sequences, masks and boxes, the output that agrees least, percentage points
    TaskKind agreementOf = TaskKind::Values; ///< what that counts
    bool triedInFile = false; ///< what was measured is the quantized file, changed itself
    std::vector<Remedy> together; ///< further changes of the remedy: causes that hide each other are mended at once
    double confidence = 1; ///< 0..1; below 1 the rule is not sure
    double rank = 0; ///< noise made here over signal power, for the order among equals
    std::string cause; ///< within the rule: findings of one cause are told of as one
    std::vector<FindingPlace> places; ///< of those, the worst first, which is told of above; empty: only there
};
/// How remedies were tried.
struct RemedyTrialNote {
    size_t tried = 0; ///< choices of changes
    size_t most = 0; ///< findings whose remedies were asked for
    bool inFile = false; ///< changes were made in the quantized file itself, else in the recipe that makes it
};
/// Its remedy was tried, and helps.
inline bool isOffered(const Finding& f) { return f.change.kind != RemedyKind::None && f.measuredGainDb; }
/// A finding with what the table says of its rule.
Finding makeFinding(Rule rule, std::string_view place = {});
/// Where a finding holds: its places, or its own.
std::vector<FindingPlace> placesOf(const Finding& finding);
/// All that applying its remedy changes.
std::vector<Remedy> changesOf(const Finding& finding);

EvidenceItem evidence(std::string key, double number, std::string unit = {});

} // namespace qs
