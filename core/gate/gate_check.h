// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gate/gates.h"

#include <optional>
#include <string>

namespace qs {

enum class Verdict { Passed, Missed, NotJudged };
inline constexpr NamedValues<Verdict, 3> kVerdicts { { { Verdict::Passed, "passed" }, { Verdict::Missed, "missed" },
    { Verdict::NotJudged, "not judged" } } };

/// One limit held against one number. Texts are one line each and may hold names out of files.
struct GateCheck {
    GateRule rule;
    Verdict verdict;
    std::string place; ///< name of the output, tensor, or of the finding's tensor or node; empty: the whole model
    std::string wanted, measured; ///< with their units
    std::string sentence; ///< what, where, wanted, measured
    std::optional<size_t> finding; ///< index
};

} // namespace qs
