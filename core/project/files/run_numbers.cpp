// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/stored_bytes.h"
#include "core/onnx/write/export.h"
#include "core/project/files/mac_count.h"
#include "core/project/files/runs.h"

#include <filesystem>

namespace qs {

namespace {

std::string dataName(const DataRequest& data)
{
    const std::filesystem::path path = std::filesystem::path(data.spec);
    return (path.has_filename() ? path : path.parent_path()).filename().string();
}

} // namespace

RunNumbers runNumbers(const Snapshot& snapshot, std::optional<uint64_t> fileBytes)
{
    RunNumbers n;
    n.fileBytes = fileBytes;
    if (!snapshot.comparison)
        return n;
    const Comparison& c = *snapshot.comparison;
    n.samples = c.samples;
    n.data = dataName(snapshot.inputs.data);
    n.measuredOn = measuredOn(snapshot);
    if (const OutputRow* worst = worstOutput(c.outputs)) {
        n.exact = worst->similarity.exact;
        n.outputSqnrDb = worst->similarity.sqnrDb;
    }
    for (const OutputRow* result : resultOutputs(c.outputs))
        n.top1Agreement = n.top1Agreement ? n.top1Agreement : result->top1Agreement;
    if (c.accuracy) {
        n.accuracy = c.accuracy->quantizedAccuracy;
        n.floatAccuracy = c.accuracy->floatAccuracy;
    }
    if (snapshot.quantModel)
        n.quantizedMacShare = macCount(*snapshot.quantModel, &c).codeShare;
    return n;
}

std::optional<uint64_t> quantizedFileBytes(const Snapshot& snapshot)
{
    if (snapshot.quantization) {
        const auto bytes = exportToBytes(snapshot.quantization->draft);
        return bytes ? std::optional<uint64_t>(bytes->size()) : std::nullopt;
    }
    return storedBytes(snapshot.inputs.quantPath);
}

} // namespace qs
