// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/quantize/quantization.h"

namespace qs {

/// The codes that the inputs' recipe takes from a file, which is looked for where the recipe says, then beside the
/// float model. Null: it takes none. Issues: the file cannot be opened, it has no such constants.
Result<std::shared_ptr<const KeptCodes>> recipeCodes(const QuantizeInputs& inputs);

/// Adds which constants have no longer the codes that the recipe takes from a file.
void warnOfNewCodes(const FileCodes& wanted, const CodeOrigins& codes, std::vector<std::string>& warnings);

} // namespace qs
