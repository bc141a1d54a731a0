// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

namespace qs {

/// For a text file in UTF-8 that a tokenizer (tokenizer.json) cuts into prompts of so many tokens. It says so by the
/// files in `spec` and `preprocess` and by a shape "positions" of one size.
DataRequest textRequest(const std::string& text, const std::string& tokenizer, size_t positions);
/// Of such a request; 0 of others.
size_t textPositions(const DataRequest& request);

/// Opens any of the forms and checks it against the inputs; the limit is applied (labels cut too). `states`:
/// inputs whose values come from the sample before; arrays and test data may hold what they begin with.
Result<std::shared_ptr<const DataSource>> openData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states = {});

} // namespace qs
