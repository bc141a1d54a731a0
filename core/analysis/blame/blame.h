// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/blamed_text.h"
#include "core/analysis/blame/token_blame.h"

namespace qs {

/// By how much each part of the quantized model moves the difference of the two rivals' scores. The text so far is read
/// in one go by models that are float before a border and quantized behind it, and the other way round. `x`, `y`: the
/// outputs that guess. Issues: there is no such prompt or position; a model cannot run; cancelled.
Result<TokenBlame> blameToken(const ComparePair& pair, ValueId x, ValueId y, const DataSource& data,
    const BlameRequest& request, const WorkContext& work);

} // namespace qs
