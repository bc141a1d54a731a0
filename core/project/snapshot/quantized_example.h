// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/read_back/read_back.h"

namespace qs {

struct LoadedModel;
struct Snapshot;

/// What a recipe makes of the float model holds weights as the quantized file does that operators hold in blocks:
/// recipes write MatMulNBits and GatherBlockQuantized where nothing else is quantized, and no QMoE.
bool recipesKeepBlocks(const LoadedModel& quantized);

/// What makes of the float model what the quantized one is: read from that file, with and without graph preparation,
/// whichever comes closer; by paired values where it has names of its own. Issues name the file.
Result<ReadBack> readExample(
    const std::shared_ptr<const Model>& floatModel, const std::shared_ptr<const Model>& quantized);
/// The same of a snapshot's two models, by its own pairs: those linked by hand and by numbers, too.
Result<ReadBack> readExample(const Snapshot& snapshot);

/// The recipe that is read of the second file makes its quantizers again, but for few; planned without data. Taken to
/// be so where names tell the recipe. Once in the snapshot, it is what that says (Snapshot::recipeMakes).
bool recipeMakesFile(const Snapshot& snapshot);

/// The recipe alone, with the file's ranges as overrides of their tensors: it makes the same quantized model without
/// them.
Recipe recipeWithRanges(const ReadBack& back);

/// Ranges beside the recipe, as the quantizer is given those of calibration, say less for a Softmax, which it gives
/// 0…1: the recipe keeps the file's where that is another.
void keepSoftmaxRanges(ReadBack& back, const Graph& floatModel);

/// The same in a few sentences: format, types, what was excluded, ranges, whether the same file comes out.
std::string describeReadBack(const ReadBack& back);

} // namespace qs
