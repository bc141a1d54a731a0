// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// What an earlier comparison measured of one output, tensor or weight.
struct BaselineRow {
    std::string name;
    Number sqnrDb;
    bool exact = false;
};

/// An earlier comparison, as far as losses against it go.
struct Baseline {
    std::string arithmetic;
    uint64_t samples = 0;
    std::vector<BaselineRow> outputs, activations, weights;
};

/// A file that `compare --json` wrote. Issues: not to be read, no such file.
Result<Baseline> readBaseline(const std::string& path);

/// All bytes of a file of at most `most` bytes.
Result<std::string> readBounded(const std::string& path, uint64_t most);

} // namespace qs
