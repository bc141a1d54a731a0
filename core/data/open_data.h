// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

namespace qs {

/// Opens any of the four forms and checks it against the inputs; the limit is applied (labels cut too). `states`:
/// inputs whose values come from the sample before; arrays and test data may hold what they begin with.
Result<std::shared_ptr<const DataSource>> openData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states = {});

} // namespace qs
