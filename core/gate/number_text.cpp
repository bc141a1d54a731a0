// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/number_text.h"

#include <cmath>
#include <fmt/format.h>

namespace qs {

std::string numberAgainst(double value, double limit)
{
    constexpr int kFewest = 4, kAll = 17;
    for (int digits = kFewest; digits < kAll; ++digits) {
        std::string text = fmt::format("{:.{}g}", value, digits);
        if (value == limit || text != fmt::format("{:.{}g}", limit, digits))
            return text;
    }
    return fmt::format("{:.{}g}", value, kAll);
}

bool hasSqnr(const Similarity& s) { return s.sqnrDb && std::isfinite(*s.sqnrDb) && s.nonFinite == 0; }

std::string measuredSqnr(const Similarity& s, double limit)
{
    if (s.exact)
        return "exact values";
    if (s.nonFinite > 0)
        return fmt::format("{} values that are not finite", s.nonFinite);
    return hasSqnr(s) ? numberAgainst(*s.sqnrDb, limit) + " dB" : "no number of dB";
}

} // namespace qs
