// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/write/export.h"
#include "core/ops/macs.h"
#include "core/project/files/runs.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

bool isProduct(const std::string& type) { return type == "Conv" || type == "Gemm" || type == "MatMul"; }

/// Sizes of the graph inputs as the samples had them.
OuterFacts inputSizes(const Comparison& comparison)
{
    OuterFacts sizes;
    for (const ActivationRow& row : comparison.activations)
        if (!row.floatNode.valid() && !row.shape.empty())
            sizes.emplace(row.name, Fact { DType::Float32, toDims(row.shape), {} });
    return sizes;
}

/// Both factors are codes, in whatever form the file says it.
bool computesOnCodes(const Graph& graph, const Node& node)
{
    if (node.opType != floatOpType(node))
        return true;
    const auto dequantized = [&](size_t i) {
        const NodeId by = node.hasInput(i) ? graph.value(node.inputs[i]).producer : NodeId();
        return by.valid() && isDequantizeLinear(graph.node(by));
    };
    return dequantized(0) && dequantized(1);
}

Number quantizedMacShare(const Graph& graph, const InferredFacts& facts)
{
    int64_t all = 0, onCodes = 0;
    for (const Node& node : graph.nodes()) {
        if (!isProduct(floatOpType(node)))
            continue;
        const auto macs = nodeMacs(node, facts);
        if (!macs)
            return std::nullopt;
        all += *macs;
        onCodes += computesOnCodes(graph, node) ? *macs : 0;
    }
    return all > 0 ? Number(double(onCodes) / double(all)) : std::nullopt;
}

std::string measuredOn(const Inputs& inputs, size_t samples)
{
    std::string text
        = inputs.data.spec + "\n" + inputs.data.preprocess + "\n" + std::to_string(inputs.data.seed.value_or(0));
    text += "\n" + std::to_string(samples) + "\n" + std::string(profileName(inputs.profile));
    for (const auto& [output, input] : inputs.carry)
        text += "\n" + output + "=" + input;
    return text;
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
    n.measuredOn = measuredOn(snapshot.inputs, c.samples);
    n.exact = !c.outputs.empty()
        && std::ranges::all_of(c.outputs, [](const OutputRow& row) { return row.similarity.exact; });
    if (!c.outputs.empty()) {
        n.outputSqnrDb = c.outputs.front().similarity.sqnrDb;
        n.top1Agreement = c.outputs.front().top1Agreement;
    }
    if (c.accuracy) {
        n.accuracy = c.accuracy->quantizedAccuracy;
        n.floatAccuracy = c.accuracy->floatAccuracy;
    }
    if (snapshot.quantModel) {
        const Graph& graph = snapshot.quantModel->graph();
        n.quantizedMacShare = quantizedMacShare(graph, snapshot.quantModel->plan->facts());
        if (!n.quantizedMacShare)
            n.quantizedMacShare = quantizedMacShare(graph, inferFacts(graph, inputSizes(c)));
    }
    return n;
}

std::optional<uint64_t> quantizedFileBytes(const Snapshot& snapshot)
{
    if (snapshot.quantization) {
        const auto bytes = exportToBytes(snapshot.quantization->draft);
        return bytes ? std::optional<uint64_t>(bytes->size()) : std::nullopt;
    }
    std::error_code error;
    const auto size = std::filesystem::file_size(snapshot.inputs.quantPath, error);
    return error ? std::nullopt : std::optional<uint64_t>(size);
}

} // namespace qs
