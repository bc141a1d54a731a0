// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/ranges.h"
#include "core/quant/recipe.h"

namespace qs {

struct OrtScript {
    std::string text; ///< Python
    std::vector<std::string> notes; ///< what of the recipe ONNX Runtime has no option for
};

/// A Python script that makes the same file with onnxruntime.quantization, 1.31: `prepared` is the float model
/// as it is quantized (after graph preparation), found at `modelPath`. The ranges are written into the script.
/// Issue: a name that cannot be resolved.
Result<OrtScript> ortScript(const GraphDraft& prepared, const Recipe& recipe, const Ranges& ranges,
    const std::string& modelPath, const std::string& outPath);

} // namespace qs
