// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/stored_bytes.h"
#include "core/onnx/write/export.h"
#include "core/project/files/mac_count.h"
#include "core/project/files/runs.h"

#include <algorithm>

namespace qs {

std::string measuredOn(const Snapshot& snapshot)
{
    const Inputs& inputs = snapshot.inputs;
    const size_t samples = snapshot.comparison->samples;
    std::string text
        = inputs.data.spec + "\n" + inputs.data.preprocess + "\n" + std::to_string(inputs.data.seed.value_or(0));
    text += "\n" + std::to_string(samples) + "\n" + std::string(profileName(inputs.profile));
    for (const auto& [output, input] : inputs.carry)
        text += "\n" + output + "=" + input;
    for (const auto& [output, task] : inputs.tasks.told)
        text += "\n" + output + ":" + taskText(task);
    return text;
}

RunNumbers runNumbers(const Snapshot& snapshot, std::optional<uint64_t> fileBytes)
{
    RunNumbers n;
    n.fileBytes = fileBytes;
    if (!snapshot.comparison)
        return n;
    const Comparison& c = *snapshot.comparison;
    n.samples = c.samples;
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
