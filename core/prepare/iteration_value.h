// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace qs {

/// A value that a loop's body computes once an iteration, as it is called behind the loop's expansion.
struct IterationValue {
    std::string name;
    std::string loop, loopType; ///< the node
    std::string inner; ///< its name in the body
    int64_t iteration = 0; ///< from 0
};

} // namespace qs
