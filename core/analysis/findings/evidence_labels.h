// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>

namespace qs {

/// What a number of a finding's evidence is called, for people.
struct EvidenceLabel {
    std::string_view key; ///< EvidenceItem::key
    const char* label; ///< "SQNR with one more bit"
    bool share = false; ///< a fraction of 1, to be shown in percent
};

/// Nothing for a key that no rule uses.
std::optional<EvidenceLabel> evidenceLabel(std::string_view key);

} // namespace qs
