// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/engine/run/execution.h"

#include <map>
#include <mutex>
#include <vector>

namespace qs {

/// Codes of one tensor that two arithmetics make of the same codes before it.
struct CodeDifference {
    uint64_t count = 0, offByOne = 0, beyond = 0;
};
/// The tensors may lie in different layouts.
CodeDifference differenceOf(const Tensor& a, const Tensor& b);

/// What an integer profile makes of a file besides what it computes: which codes differ from the file as written, and
/// which sums saturated. Integers, so the order of samples does not matter.
struct ImplementationSums {
    std::mutex mutex;
    std::map<ValueId, CodeDifference> codes;
    std::map<NodeId, PairCounts> pairs;
};

/// Adds the counts of one execution to others of the same plan.
void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts);
/// In node order, for people.
std::vector<SaturationRow> saturationRows(const Plan& plan, const std::map<NodeId, PairCounts>& counts);

/// Runs the file as written beside an integer plan of the same graph, stage by stage: wherever codes are made, both are
/// compared, and the file's run goes on with the integer plan's, so that one flipped code does not spread.
class ImplementationCheck {
public:
    /// Values where codes are made and both plans have them.
    static std::vector<ValueId> borders(const Plan& integer);
    /// Both executions are bound to the same inputs; `stages` and `integer` are of schedules that demand the borders.
    ImplementationCheck(Execution& integer, const Schedule& integerSchedule, Execution& stages,
        const Schedule& stageSchedule, const std::vector<ValueId>& borders);
    /// After each step of the integer execution.
    Status follow(const CancelToken& cancel);
    void addTo(ImplementationSums& sums) const;

private:
    Execution& m_integer;
    const Schedule& m_integerSchedule;
    Execution& m_stages;
    const Schedule& m_stageSchedule;
    std::vector<bool> m_border; ///< by value
    std::map<ValueId, CodeDifference> m_codes;
};

} // namespace qs
