// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <string>
#include <vector>

namespace qs {

/// Why ONNX Runtime would refuse to load a quantized model; empty where nothing is known that it refuses. ONNX
/// Runtime's own tools write such files, too: they do not raise the opset for scales per channel or in float16.
std::vector<std::string> loadWarnings(const GraphDraft& quantized);

} // namespace qs
