// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>

namespace qs {

/// Constants of a graph (initializers, and behind them Constant nodes) that have a name which a later one of the same
/// type and shape has again. The standard forbids it, runtimes let the last one count, and exporters rely on that.
struct RepeatedConstants {
    std::unordered_set<const void*> superseded; ///< NodeProtos and TensorProtos that do not count
    std::unordered_set<std::string> defaults; ///< graph inputs that a Constant node makes: constants
    std::string firstName; ///< of those that are superseded; empty when there are none
};
RepeatedConstants repeatedConstants(const onnx::GraphProto& graph);

} // namespace qs
