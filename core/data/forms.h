// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

/// The forms of data, each in a file of its own; openData chooses.
namespace qs {

using DataResult = Result<std::shared_ptr<DataSource>>;

/// `states`: inputs that are carried from sample to sample, whose first value the data may hold.
DataResult openArrayData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states);
DataResult openTestData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states);
DataResult openImageData(const DataRequest& request, const std::vector<InputSpec>& inputs);
/// A text that a tokenizer cuts into prompts (textRequest). An Issue where an input is neither tokens nor implied by
/// them, or the text has too few.
DataResult openTextData(const DataRequest& request, const std::vector<InputSpec>& inputs);
DataResult openRandomData(const DataRequest& request, const std::vector<InputSpec>& inputs);

/// Whether the folder holds ONNX test data (test_data_set_* folders, or input_*.pb itself).
bool isTestDataFolder(const std::string& path);

} // namespace qs
