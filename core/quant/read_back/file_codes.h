// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/params/kept_codes.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// Codes of constants that the file has and that differ from those of `made`, a quantization of the float model, though
/// the parameters are the same; and beside weights of such codes the biases that differ, too, whether the file leaves
/// them in float or has codes of them with parameters that `made` does not have.
FileCodes fileCodes(const QuantizedFile& file, const QuantizedFile& made, const GraphDraft& floatModel);

/// The codes that a recipe wants of that file. Issue: it has no such constant.
Result<KeptCodes> readCodes(const std::shared_ptr<const Model>& file, const FileCodes& wanted);

} // namespace qs
