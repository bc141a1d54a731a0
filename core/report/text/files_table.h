// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/report.h"

#include <string>
#include <vector>

namespace qs {

/// Size, work, time and worth of the models side by side.
std::string filesText(const std::vector<FileFacts>& files);
/// Pairs with elements beyond the tolerance, largest share first.
std::string elementsText(const ElementDifferences& found, bool verbose);

namespace text {

std::string fileRole(const FileFacts& facts); ///< "float", "quantized", "A", "B"
/// "1.23 ms (0.91 to 2.04, 9 runs, 2 threads, integer)"; "-" where it was not measured.
std::string runTime(const FileFacts& facts);
/// "12 of 345 values have elements beyond rtol 1e-05 and atol 0.001", or that none has.
std::string elementsVerdict(const ElementDifferences& found);
std::string elementPlace(const ElementRow& row); ///< "sample 3, [0, 12]: 0.5 and 0.75"; "-" where there is none
/// Rows by what they say: largest share first, outputs before others of the same share.
std::vector<size_t> mostBeyondFirst(const ElementDifferences& found);

} // namespace text

} // namespace qs
