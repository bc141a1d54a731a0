// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/base/work/worker_team.h"
#include "core/engine/run/carry.h"
#include "core/quant/calibrate/calibration_run.h"

#include <functional>
#include <memory>
#include <vector>

namespace qs {

/// Runs a float model over all data and shows each watched value as soon as it exists; it may be dropped then.
class ActivationPass {
public:
    /// Called on any worker, for one run in the order of the graph's nodes.
    using See = std::function<Status(size_t watched, const Tensor& value, size_t feed, size_t worker)>;
    /// The run must outlive this and name each tensor once.
    static Result<ActivationPass> make(const CalibrationRun& run);
    size_t workers() const { return m_pools.size(); }
    /// Bytes that each worker may use beyond what a run needs.
    uint64_t spareBytes() const { return m_spareBytes; }
    /// Constant of the plan, which is not shown; null otherwise.
    const Tensor* constant(size_t watched) const;
    /// Of several issues that of the earliest run is returned.
    Status run(const See& see, std::string_view phase, const ProgressFn& progress, const CancelToken& cancel);

private:
    struct Seen {
        size_t watched;
        ValueId value;
    };
    Status runFeed(size_t feed, size_t worker, CarriedState& state, const See& see, const CancelToken& cancel);
    const CalibrationRun* m_run = nullptr;
    std::shared_ptr<const Schedule> m_schedule;
    std::vector<CarryLink> m_carry;
    std::vector<ValueId> m_watched;
    std::vector<Seen> m_inputs; ///< watched graph inputs
    std::vector<std::vector<Seen>> m_outputs; ///< by task
    std::vector<std::unique_ptr<BufferPool>> m_pools; ///< by worker
    uint64_t m_spareBytes = UINT64_MAX;
    std::unique_ptr<WorkerTeam> m_team; ///< when there are fewer runs than threads
};

} // namespace qs
