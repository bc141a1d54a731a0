// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/memory.h"
#include "core/project/snapshot/build_context.h"

namespace qs {

/// A snapshot on its way.
class Steps {
public:
    Steps(const Inputs& inputs, const SnapshotPtr& last, const ProgressFn& progress, const CancelToken& cancel)
        : previous(last ? last : std::make_shared<const Snapshot>())
        , context { next.inputs, next.caches, workFor(inputs, progress, cancel) }
        , m_allocatedBefore(inputs.memoryLimit > 0 ? allocatedBytes() : 0)
    {
        next.inputs = inputs;
        next.caches = previous->caches;
    }
    Steps(const Steps&) = delete; // its parts point at each other

    /// One step: takes what the previous snapshot has under the same key, else has it made. `made`: all that `make`
    /// sets.
    template <class Key, class Make, class... Values>
    Status step(std::optional<Key> StepKeys::*place, const Key& key, const Make& make, Values Snapshot::*... made)
    {
        if (previous->keys.*place == key) {
            ((next.*made = previous.get()->*made), ...);
        } else {
            if (context.work.cancel.cancelled())
                return cancelled();
            QS_CHECK(make());
            QS_CHECK(withinMemory());
            if (context.work.cancel.cancelled()) // what cannot fail may have left things out
                return cancelled();
        }
        next.keys.*place = key;
        return {};
    }

    /// All that is there by now, by the allocator, and `more` bytes: within the limit, where one was given.
    Status withinMemory(uint64_t more = 0) const;

    const SnapshotPtr previous; ///< never null
    Snapshot next;
    const BuildContext context; ///< of `next`

private:
    const uint64_t m_allocatedBefore; ///< bytes; 0 without a limit, as asking walks through the whole heap
};

} // namespace qs
