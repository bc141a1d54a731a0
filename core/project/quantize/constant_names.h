// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/read_back/read_back.h"

#include <map>
#include <optional>
#include <string>

namespace qs {

/// A float model whose weights and biases have the names that a quantized file has for them: ONNX Runtime's
/// preprocessing names what it folds anew (ConvBnFusion_W_...), while values and nodes keep theirs.
struct ConstantsNamedAsIn {
    GraphDraft draft;
    std::map<std::string, std::string> own; ///< by the name in the file: that in the model
};

/// Constants are known by the nodes that read them. Nothing where all have the names of the file.
std::optional<ConstantsNamedAsIn> constantsNamedAsIn(const QuantizedFile& file, const GraphDraft& floatModel);

/// What was read of the draft with the file's names, in the model's.
Recipe inOwnNames(Recipe recipe, const std::map<std::string, std::string>& own);

} // namespace qs
