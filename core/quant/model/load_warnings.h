// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"
#include "core/graph/draft.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// Why ONNX Runtime would refuse to load a quantized model; empty where nothing is known that it refuses. ONNX
/// Runtime's own tools write such files, too: they do not raise the opset for scales per channel or in float16.
std::vector<std::string> loadWarnings(const GraphDraft& quantized);
/// The same of a file, whose path begins each line.
std::vector<std::string> loadWarnings(const std::shared_ptr<const Model>& file);
/// What stopped a run of the file, which ONNX Runtime would refuse, says why; any other issue as it is.
Issue withLoadWarning(Issue issue, const std::shared_ptr<const Model>& file);

} // namespace qs
