// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <optional>

namespace qs {

/// Channels in a block of the images and filters of com.microsoft.nchwc nodes, 8 or 16; 0 in a graph without such
/// nodes. Files do not say it. It follows from the sizes of filters and outputs where only one of the two is possible,
/// else from the filters' elements; where these do not tell, either, it is that of this CPU, as ONNX Runtime takes it.
int64_t channelBlockOf(const Graph& graph);

/// The float32 filter of a convolution among such nodes as filters x channels x kernel, still filled up to whole
/// blocks; nullopt where it does not fill them.
std::optional<Tensor> plainFilter(const Tensor& stored, int64_t groups, int64_t block);

} // namespace qs
