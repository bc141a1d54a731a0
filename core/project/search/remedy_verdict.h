// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/finding.h"
#include "core/project/search/remedy_trials.h"

#include <string>
#include <vector>

/// What a trial says of the finding whose remedy it tried.
namespace qs {

/// At the output, but where it is said.
struct GainLimits {
    static constexpr double nothingDb = 0.1; ///< less is no gain
    static constexpr double asGoodDb = 1; ///< as good as another choice
    static constexpr double worthDb = 0.5; ///< a gain that is worth a change, where more was expected
    static constexpr double promisedDb = 1; ///< expected at the tensor: a promise
    static constexpr double harmfulPoints = 1; ///< samples right that a change must not cost
    static constexpr double closerDb = 3; ///< gained
    static constexpr double costlyDb = 3; ///< more than what a healthy file lacks
};

/// What applying the remedy changes; one that quantizes anew does it in each of the places.
std::vector<Remedy> triedChanges(const Finding& f);
/// What was measured is the finding's.
void take(Finding& f, const Trial& trial);
Finding taken(Finding f, const Trial& trial);
/// It loses at the output, or costs samples for little.
bool harms(const Finding& f);
/// It does at the output what it is there for.
bool helps(const Finding& f);
/// "gains 3.1 dB at the output".
std::string gainText(const Finding& f);
void takeBack(Finding& f);
/// The remedy was tried and is not worth it: nobody is asked to make it. `elsewhere`: as part of another one.
void withdraw(Finding& f, bool elsewhere);
/// With the float model's constant in its place far more is wrong: what is stored there is no fault.
bool refuted(const Finding& f);
/// A button says no more than what was measured.
void offer(Finding& f);
/// Those that were tried change places with each other within a severity: what is offered and gains most first.
void sortTried(std::vector<Finding>& findings);
/// The finding's remedy is all of this.
void setChanges(Finding& f, const std::vector<Remedy>& changes, bool hidden = false);
/// It is said, and not offered.
void keepAsAdvice(Finding& f);

} // namespace qs
