// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

struct OrtScript {
    std::string text; ///< Python
    std::vector<std::string> notes; ///< what of the recipe ONNX Runtime has no option for
};

struct OrtScriptFiles {
    std::string script; ///< where it will lie: it finds the others from there
    std::string model; ///< the float model as it is quantized (after graph preparation)
    std::string out;
    bool externalData = false; ///< of a file that is too large for one message
};

/// A Python script that makes the same file with onnxruntime.quantization, 1.31. `prepared` is what lies at
/// files.model. The ranges are written into the script. Issue: a name that cannot be resolved.
Result<OrtScript> ortScript(
    const GraphDraft& prepared, const Recipe& recipe, const Ranges& ranges, const OrtScriptFiles& files);
/// Where so much data belongs beside the file (protobuf's limit is 2 GiB a message).
bool needsExternalData(const GraphDraft& quantized);

} // namespace qs
