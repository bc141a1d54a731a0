// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/opened_file.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <memory>
#include <string>

namespace qs {

/// Opens an ONNX file (IR version 3 or later). Weights and external data are memory-mapped, not copied; model-local
/// functions are expanded; subgraphs are kept as attributes; unknown domains and operators stay as opaque nodes.
/// Issues (all BadInput, naming the file): cannot be read, no ONNX model, truncated, cyclic or unconnected graph,
/// sizes that do not fit the data, external data missing, too short or outside the model's folder.
/// `memoryLimit`: bytes that the graph may take, 0 = any; weights stay in the file and are not counted.
Result<std::shared_ptr<const Model>> importModel(const std::string& path, uint64_t memoryLimit = 0);

/// The same from memory (tests); external data is looked for in `folder`.
Result<std::shared_ptr<const Model>> importModelFromBytes(std::span<const std::byte> bytes, const std::string& folder);

/// The files that an imported model lies in, itself and its external data. While it lives its weights are what these
/// files hold, so what was computed with them counts only when they are unchanged() afterwards. Empty for models that
/// were made of others.
OpenedFiles filesOf(const Model& model);

/// A value of ONNX test data (input_0.pb). The file does not say what it stores: `type`, the type of the input or
/// output that it is for, says whether a tensor, a sequence, a map or an optional.
Result<Tensor> importValue(const std::string& path, const ValueType& type);

} // namespace qs
