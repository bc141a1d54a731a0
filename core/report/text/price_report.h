// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/price/weight_prices.h"
#include "core/project/snapshot/snapshot.h"
#include "core/report/report.h"

#include <string>
#include <vector>

namespace qs {

/// What was measured, of which snapshot.
struct PriceReport {
    const Snapshot& snapshot;
    const WeightPrices& prices;
    std::string recipe; ///< what the recipe began with
    const PricePoint* chosen = nullptr; ///< by the user's limit; null: none was given
    std::string unsaid = {}; ///< BuilderOptions::unsaid
    std::vector<std::string> warnings = {}; ///< beside those of the snapshot
};

std::string priceJson(const PriceReport& report, const ReportInfo& info);
/// For a terminal: the weights, those first that more bits serve best, then bytes against loss.
std::string priceTable(const PriceReport& report, const ReportInfo& info);

} // namespace qs
