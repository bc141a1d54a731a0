// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/prepare.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// y = x * factor + shift, one of each a channel.
struct ChannelMap {
    std::vector<double> factor, shift;
};

std::optional<ChannelMap> channelMap(const GraphDraft& draft, const DraftNode& norm)
{
    std::vector<double> parts[4];
    if (norm.inputs.size() < 5 || norm.attributes.integer("training_mode", 0) != 0
        || std::ranges::count_if(norm.outputs, [](const std::string& o) { return !o.empty(); }) != 1)
        return std::nullopt;
    for (size_t i = 0; i < 4; ++i) {
        const Tensor* part = draft.constant(norm.inputs[i + 1]);
        if (!part || part->dtype() != DType::Float32)
            return std::nullopt;
        parts[i] = toDoubles(*part);
        if (parts[i].size() != parts[0].size())
            return std::nullopt;
    }
    const double epsilon = double(norm.attributes.real("epsilon", 1e-5f));
    ChannelMap map;
    for (size_t c = 0; c < parts[0].size(); ++c) {
        const double factor = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
        map.factor.push_back(factor);
        map.shift.push_back(parts[1][c] - parts[2][c] * factor);
    }
    return map;
}

/// The constant's name for the changed value: the same if nobody else reads it.
std::string nameFor(const GraphDraft& draft, const std::string& constant, const std::string& norm)
{
    const auto uses = [&](const DraftNode& node) { return std::ranges::count(node.inputs, constant); };
    long readers = 0;
    for (const DraftNode& node : draft.nodes)
        readers += uses(node);
    return readers == 1 && !draft.isCaptured(constant) && !draft.isOutput(constant) ? constant : constant + "_" + norm;
}

/// The weight's axis of output channels; nothing where the normalization cannot go into it.
std::optional<size_t> channelAxis(const DraftNode& node, const Tensor& weight)
{
    if (node.is("Gemm")) {
        const bool plain = node.attributes.real("alpha", 1) == 1.0f && node.attributes.real("beta", 1) == 1.0f;
        return plain && weight.rank() == 2 ? std::optional(node.attributes.integer("transB", 0) != 0 ? size_t(0) : 1)
                                           : std::nullopt;
    }
    const bool transposed = node.is("ConvTranspose");
    const int64_t groups = node.attributes.integer("group", 1);
    // A transposed weight has its output channels second; with groups they repeat.
    if (weight.rank() < 3 || groups < 1 || (transposed && groups != 1))
        return std::nullopt;
    return transposed ? 1 : 0;
}

bool fold(GraphDraft& draft, DraftNode& conv, const DraftNode& norm)
{
    const auto map = channelMap(draft, norm);
    const Tensor* weight = conv.hasInput(1) ? draft.constant(conv.inputs[1]) : nullptr;
    const Tensor* bias = conv.hasInput(2) ? draft.constant(conv.inputs[2]) : nullptr;
    if (!map || !weight || weight->dtype() != DType::Float32 || (conv.hasInput(2) && !bias))
        return false;
    const auto axis = channelAxis(conv, *weight);
    const auto channels = static_cast<int64_t>(map->factor.size());
    if (!axis || weight->dim(*axis) != channels)
        return false;
    std::vector<float> w = toFloats(*weight);
    int64_t inner = 1;
    for (size_t d = *axis + 1; d < weight->rank(); ++d)
        inner *= weight->dim(d);
    for (size_t i = 0; i < w.size(); ++i) {
        const auto c = (static_cast<int64_t>(i) / inner) % channels;
        w[i] = static_cast<float>(double(w[i]) * map->factor[static_cast<size_t>(c)]);
    }
    std::vector<float> b(static_cast<size_t>(channels));
    const std::vector<double> old = bias ? toDoubles(*bias) : std::vector<double>(b.size(), 0.0);
    if (old.size() != b.size())
        return false;
    for (size_t c = 0; c < b.size(); ++c)
        b[c] = static_cast<float>(old[c] * map->factor[c] + map->shift[c]);
    const std::string weightName = nameFor(draft, conv.inputs[1], norm.name);
    const std::string biasName
        = bias ? nameFor(draft, conv.inputs[2], norm.name) : conv.inputs[1] + "_" + norm.name + "_bias";
    draft.setConstant(weightName, Tensor::of<float>(weight->shape(), w));
    draft.setConstant(biasName, Tensor::of<float>({ channels }, b));
    conv.inputs.resize(3);
    conv.inputs[1] = weightName;
    conv.inputs[2] = biasName;
    conv.outputs.front() = norm.outputs.front();
    conv.cameFrom = fusedOrigin({ originOf(conv), originOf(norm) }, 0);
    return true;
}

} // namespace

Result<PassReport> foldBatchNorm(GraphDraft& draft)
{
    PassReport report { "fold_batch_norm", 0 };
    std::unordered_map<std::string, size_t> producer, readers;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        for (const std::string& out : draft.nodes[n].outputs)
            producer.emplace(out, n);
        for (const std::string& in : draft.nodes[n].inputs)
            ++readers[in];
    }
    std::vector<bool> gone(draft.nodes.size(), false);
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        const DraftNode& norm = draft.nodes[n];
        if (!norm.is("BatchNormalization") || !norm.hasInput(0))
            continue;
        const std::string between = norm.inputs.front();
        const auto made = producer.find(between);
        if (made == producer.end() || readers[between] != 1 || draft.isOutput(between) || draft.isCaptured(between))
            continue;
        DraftNode& conv = draft.nodes[made->second];
        if (!conv.is("Conv") && !conv.is("ConvTranspose") && !conv.is("Gemm"))
            continue;
        gone[n] = fold(draft, conv, norm);
        report.changes += gone[n];
    }
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n)
        if (!gone[n])
            kept.push_back(std::move(draft.nodes[n]));
    draft.nodes = std::move(kept);
    draft.dropUnusedConstants();
    return report;
}

} // namespace qs
