// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/gate/gate_check.h"

namespace qs {

struct Judgement {
    bool asked = false; ///< there are gates; else the checks are the findings, not judged
    std::string gateFile;
    std::vector<GateCheck> checks;
    std::vector<std::string> warnings; ///< what makes a check doubtful
    size_t count(GateVerdict verdict) const;
};

/// Every limit held against every number that it is about. What is no finite number keeps no limit, and what the
/// baseline has and the comparison has not is missed. Issues: a number that no output has, a pattern that matches
/// nothing: a gate that checks nothing does not pass.
Result<Judgement> judged(const Comparison& comparison, const Gates& gates);

} // namespace qs
