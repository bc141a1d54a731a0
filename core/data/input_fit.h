// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

namespace qs {

/// Whether a tensor of this shape can be given to the input as it is.
bool fits(const Shape& shape, const InputSpec& input);
/// "input expects 1x3x?x?, the data have 3x224x224", with the input's name and a remedy.
Issue shapeIssue(const InputSpec& input, const std::string& given, const std::string& file, std::string remedy);

/// Whether data of type `from` may serve an input of type `to`: equal, or of the same kind (float, integer).
bool convertible(DType from, DType to);
Issue dtypeIssue(const InputSpec& input, DType given, const std::string& file);
/// The elements in the input's type. An Issue when a value does not survive: an integer out of range, or a finite
/// float that would become infinite. Floats are rounded to the nearest.
Result<Tensor> convertTo(Tensor tensor, const InputSpec& input, const std::string& file);

/// The fixed size of axis 0, 1 when dynamic or without axes.
int64_t batchSize(const InputSpec& input);
/// Items that one feed carries when each input gets its batch: the common batch size, or 1 where the inputs differ (a
/// state whose axis 0 is no batch).
size_t commonBatch(const std::vector<InputSpec>& inputs);
/// Whether no input has more than one axis; a vector is then one item, not a batch of numbers.
bool allVectors(const std::vector<InputSpec>& inputs);
/// Feeds for `samples` samples after the limit; an Issue when they do not fill the batches or there are none.
Result<size_t> feedsFor(size_t samples, size_t batch, const std::string& file);

/// "a, b and 3 more".
std::string nameList(const std::vector<std::string>& names);

} // namespace qs
