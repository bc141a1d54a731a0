// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/atomic_file.h"
#include "core/graph/draft.h"

#include <string>
#include <vector>

namespace qs {

struct ExportOptions {
    /// Constants go to a second file beside the model when all of it would need more bytes than this (protobuf's limit
    /// is 2 GiB).
    uint64_t inlineLimit = (uint64_t(1) << 31) - (uint64_t(1) << 20);
};

/// Writes the draft as an ONNX file, by a temporary neighbour. What the source file says and the draft did not change
/// (documentation, metadata, shapes with names, functions, fields newer than ours) is taken from it; constants of
/// external files come inside. External data of a large model lies in "<name>.data" beside it, or in "<name>.2.data"
/// where the model that is replaced has its own in the former: both models are whole until one takes the other's place.
/// Issues: the source file was changed or is gone, the path cannot be written, an attribute cannot be written.
Status exportModel(const GraphDraft& draft, const std::string& path, const ExportOptions& options = {});

/// The same without the last step: complete files that get their names by commit(), for those who write several files
/// or none.
Result<std::vector<AtomicFile>> stageModel(
    const GraphDraft& draft, const std::string& path, const ExportOptions& options = {});

/// The files beside the model that may be written with it.
std::vector<std::string> filesBeside(const std::string& path);

/// The bytes of the file (everything inside).
Result<std::string> exportToBytes(const GraphDraft& draft);

} // namespace qs
