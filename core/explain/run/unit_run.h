// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/fuse/unit_program.h"
#include "core/explain/operators/moved_from.h"
#include "core/explain/run/sample_values.h"

namespace qs {

/// A fused integer unit, run once more with all that is inside kept.
class UnitRun {
public:
    /// The unit must have its steps.
    static Result<UnitRun> make(const FusedUnit& unit, const Graph& graph, const SampleValues& values);
    /// Explains an element of the unit's output: its operator on codes, its operands named as the file has them.
    void explain(int64_t element, ElementExplanation& e) const;

private:
    /// How elements of one register come from another: moves, and codes that are the same numbers 128 apart.
    struct Trace {
        int reg = -1;
        std::vector<MovedPlaces> moves; ///< last to first
        int64_t shift = 0; ///< to take off codes and zero points
    };
    UnitRun(const FusedUnit& unit, const Graph& graph)
        : m_unit(unit)
        , m_graph(graph)
    {
    }
    Status run(const SampleValues& values);
    const UnitSteps::Step* stepOf(int reg) const;
    Operation operationOf(const UnitSteps::Step& step) const;
    std::optional<Trace> traceBack(int reg) const;
    void nameSource(size_t slot, const UnitSteps::Step& main, const Trace& trace, ElementExplanation& e) const;
    bool storesWeight(const UnitSteps::Step& step) const;
    int64_t signShiftOfWeight() const;
    void renameStoredWeight(const UnitSteps::Step& step, ElementExplanation& e) const;
    void explainMoved(int64_t element, const Trace& out, ElementExplanation& e) const;

    const FusedUnit& m_unit;
    const Graph& m_graph;
    std::vector<Tensor> m_values; ///< by register; plain
};

} // namespace qs
