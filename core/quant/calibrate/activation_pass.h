// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/sample_loop.h"
#include "core/quant/calibrate/calibration_run.h"

#include <functional>
#include <memory>
#include <vector>

namespace qs {

/// Runs a float model over all data, or a part of them, and shows each watched value as soon as it exists; it may be
/// dropped then.
class ActivationPass {
public:
    /// Called on any worker, for one run in the order of the graph's nodes.
    using See = std::function<Status(size_t watched, const Tensor& value, size_t feed, size_t worker)>;
    /// The run must outlive this and name each tensor once.
    static Result<ActivationPass> make(const CalibrationRun& run);
    size_t workers() const { return m_loop.workers(); }
    /// Bytes that each worker may use beyond what a run needs.
    uint64_t spareBytes() const { return m_loop.spareBytes(); }
    /// Constant of the plan, which is not shown; null otherwise.
    const Tensor* constant(size_t watched) const;
    /// Of several issues that of the earliest run is returned. Progress is told under that name, if there is one.
    Status run(std::string_view phase, const See& see);

private:
    struct Seen {
        size_t watched;
        ValueId value;
    };
    ActivationPass(const CalibrationRun& run, CarriedState start, SampleLoop loop)
        : m_run(&run)
        , m_start(std::move(start))
        , m_loop(std::move(loop))
    {
    }
    void findSeen();
    Status runFeed(size_t feed, const SampleWorker& worker, CarriedState& state, const See& see) const;
    const CalibrationRun* m_run;
    CarriedState m_start;
    SampleLoop m_loop;
    std::shared_ptr<const Schedule> m_schedule;
    std::vector<ValueId> m_watched;
    std::vector<Seen> m_inputs; ///< watched graph inputs
    std::vector<std::vector<Seen>> m_outputs; ///< by task
};

} // namespace qs
