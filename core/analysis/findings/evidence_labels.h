// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>

namespace qs {

/// How such a number is shown.
enum class EvidenceForm {
    Number,
    Share, ///< a fraction of 1, in percent
    Count, ///< a whole number, all of its digits
};

/// What a number of a finding's evidence is called, for people.
struct EvidenceLabel {
    std::string_view key; ///< EvidenceItem::key
    const char* label; ///< "SQNR with one more bit"
    EvidenceForm form = EvidenceForm::Number;
};

/// Nothing for a key that no rule uses.
std::optional<EvidenceLabel> evidenceLabel(std::string_view key);

} // namespace qs
