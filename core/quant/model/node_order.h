// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// Sorts the nodes topologically in the order in which ONNX Runtime's tools write them: first those without inputs,
/// then what constants and graph inputs, by name, make ready, then first come, first served.
void sortAsOnnxRuntime(GraphDraft& draft);

} // namespace qs
