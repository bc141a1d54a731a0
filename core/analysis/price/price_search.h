// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/price/priced_units.h"
#include "core/base/result.h"

#include <functional>
#include <vector>

namespace qs {

/// Why a search came to its end.
enum class PriceStop {
    Done, ///< what is left of the loss is not worth looking for, or every unit is float
    NoGain, ///< no single unit takes anything of the loss away any more
    Steps, ///< as many as were asked for
    Time, ///< as much as was asked for
};
std::string_view priceStopName(PriceStop stop); ///< "done", "no_gain", "steps", "time"

inline constexpr size_t kTriedInStep = 4; ///< moves that are measured in a step

/// What a search begins with. A loss is whatever is to become small.
struct PriceSearch {
    StoreChoice start;
    double loss = 0; ///< of the start
    std::vector<std::vector<double>> bytes; ///< of each unit, by what it is stored as
    std::vector<std::vector<double>> alone; ///< loss with only this unit stored so
    double enough = 0; ///< a loss that nobody looks below
    size_t steps = 0; ///< units raised, at most
    /// Losses of whole choices, measured.
    std::function<Result<std::vector<double>>(const std::vector<StoreChoice>&)> measure;
    std::function<Status(const StoreChoice&)> taken; ///< told of each step; may be empty
    std::function<bool()> timeIsUp; ///< may be empty
};

struct PriceSearchEnd {
    StoreChoice choice;
    double loss = 0;
    size_t steps = 0;
    PriceStop stop = PriceStop::Done;
};

/// Raises one unit after the other to more bits, each time the one that takes away most of the loss for its bytes.
/// Gains are no sums: the most promising moves are measured beside all that is raised already, and so is every step.
Result<PriceSearchEnd> searchPrices(const PriceSearch& search);

} // namespace qs
