// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

namespace qs {

/// Opens any of the four forms and checks it against the inputs; the limit is applied (labels cut too).
Result<std::shared_ptr<const DataSource>> openData(const DataRequest& request, const std::vector<InputSpec>& inputs);

} // namespace qs
