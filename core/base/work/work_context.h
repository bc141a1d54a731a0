// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"

#include <cstdint>

namespace qs {

/// How long work is done, whatever it is: who is told of it, who may stop it, and what it may use. No result depends on
/// the threads or the memory.
struct WorkContext {
    ProgressFn progress = {}; ///< empty: nobody is told
    CancelToken cancel = {};
    size_t threads = 0; ///< 0 = all cores
    uint64_t memoryLimit = 0; ///< bytes; 0 = 80 % of RAM

    size_t threadCount() const;
    uint64_t memoryBytes() const;
    void tell(std::string_view phase, size_t done, size_t total) const;
};

} // namespace qs
