// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/report.h"

#include <cmath>
#include <cstdio>

namespace qs {

std::string correctionLine(const CorrectionReport& report)
{
    const auto decibels = [](double v) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", v);
        return std::isfinite(v) ? std::string(text) : std::string("infinite");
    };
    std::string line = report.name + ": ";
    if (report.before && report.after)
        line += "output SQNR " + decibels(*report.before) + " -> " + decibels(*report.after) + " dB, ";
    return line + report.changes;
}

} // namespace qs
