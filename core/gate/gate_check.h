// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gate/gates.h"

#include <optional>
#include <string>

namespace qs {

enum class GateVerdict { Passed, Missed, NotJudged };
inline constexpr NamedValues<GateVerdict, 3> kVerdicts { { { GateVerdict::Passed, "passed" },
    { GateVerdict::Missed, "missed" }, { GateVerdict::NotJudged, "not judged" } } };

/// One limit held against one number. Texts are one line each and may hold names out of files.
struct GateCheck {
    GateRule rule;
    GateVerdict verdict;
    std::string place; ///< name of the output, tensor, or of the finding's tensor or node; empty: the whole model
    std::string wanted, measured; ///< with their units
    std::string sentence; ///< what, where, wanted, measured
    std::optional<size_t> finding; ///< index
};

} // namespace qs
