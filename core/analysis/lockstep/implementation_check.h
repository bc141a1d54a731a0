// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/code_difference.h"
#include "core/engine/run/execution.h"

#include <map>
#include <vector>

namespace qs {

/// Runs the file as written beside an integer plan of the same graph, stage by stage: wherever codes are made, and
/// wherever sums that may saturate end in none, both are compared, and the file's run goes on with the integer plan's,
/// so that one flipped code does not spread.
class ImplementationCheck {
public:
    /// Such values that both plans have, and those of pairs in a row that the integer plan has as one.
    static std::vector<ValueId> borders(const Plan& integer);
    /// Both executions are bound to the same inputs; `stages` and `integer` are of schedules that demand the borders.
    ImplementationCheck(Execution& integer, const Schedule& integerSchedule, Execution& stages,
        const Schedule& stageSchedule, const std::vector<ValueId>& borders);
    /// After each step of the integer execution.
    Status follow(const CancelToken& cancel);
    void addTo(ImplementationSums& sums) const;

private:
    enum class Border : uint8_t { None, Codes, Sums, HandedOn };
    Execution& m_integer;
    const Schedule& m_integerSchedule;
    Execution& m_stages;
    const Schedule& m_stageSchedule;
    std::vector<Border> m_border; ///< by value
    std::map<ValueId, CodeDifference> m_codes;
    std::map<ValueId, SumDifference> m_sums;
};

} // namespace qs
