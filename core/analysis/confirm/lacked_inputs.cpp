// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/lacked_inputs.h"

#include "core/analysis/rounding/attribute_differences.h"
#include "core/graph/domains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int kNone = -1;

/// An optional input of an operator, and of the one that ONNX Runtime's quantizer puts in its place.
struct FusedInput {
    std::string_view floatType, quantType, name;
    int floatSlot, quantSlot;
};

constexpr auto kFusedInputs = std::to_array<FusedInput>({
    { "EmbedLayerNormalization", "QEmbedLayerNormalization", "segment_ids", 1, 1 },
    { "EmbedLayerNormalization", "QEmbedLayerNormalization", "segment_embedding", 4, 4 },
    { "EmbedLayerNormalization", "QEmbedLayerNormalization", "mask", 7, 7 },
    { "EmbedLayerNormalization", "QEmbedLayerNormalization", "position_ids", 8, kNone },
    { "Attention", "QAttention", "bias", 2, 2 },
    { "Attention", "QAttention", "mask_index", 3, 5 },
    { "Attention", "QAttention", "past", 4, 8 },
    { "Attention", "QAttention", "attention_bias", 5, kNone },
    { "LSTM", "DynamicQuantizeLSTM", "B", 3, 3 },
    { "LSTM", "DynamicQuantizeLSTM", "sequence_lens", 4, 4 },
    { "LSTM", "DynamicQuantizeLSTM", "initial_h", 5, 5 },
    { "LSTM", "DynamicQuantizeLSTM", "initial_c", 6, 6 },
    { "LSTM", "DynamicQuantizeLSTM", "P", 7, 7 },
});

bool reads(const Node& node, int slot) { return slot != kNone && node.hasInput(size_t(slot)); }

} // namespace

std::vector<LackedInput> lackedInputs(const ComparePair& pair)
{
    std::vector<LackedInput> lacked;
    const FunctionPartners partners(pair);
    const auto& nodes = pair.quantPlan->graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n)
        for (const FusedInput& input : kFusedInputs) {
            if (!nodes[n].is(std::string(input.quantType), kMicrosoftDomain) || reads(nodes[n], input.quantSlot))
                continue;
            const NodeId partner = partners.ofAny(NodeId(n));
            const Node* there = partner.valid() ? &pair.floatPlan->graph().node(partner) : nullptr;
            if (there && there->opType == input.floatType && reads(*there, input.floatSlot))
                lacked.push_back({ partner, NodeId(n), std::string(input.name), input.quantSlot != kNone });
        }
    return lacked;
}

std::string lackedText(const ComparePair& pair, const std::vector<LackedInput>& lacked, NodeId floatNode)
{
    constexpr size_t kNamed = 3;
    const auto here = std::ranges::find(lacked, floatNode, &LackedInput::floatNode);
    if (here == lacked.end())
        return {};
    const Node& is = pair.quantPlan->graph().node(here->quantNode);
    const Node& was = pair.floatPlan->graph().node(floatNode);
    std::string text = fmt::format(" There {} reads '{}', and {} of the quantized file does not{}.", was.name,
        here->input, is.name, here->possible ? "" : fmt::format(": {} has no such input", is.opType));
    std::vector<std::string> others;
    for (const LackedInput& other : lacked)
        if (other.input == here->input && other.floatNode != floatNode)
            others.push_back(pair.floatPlan->graph().node(other.floatNode).name);
    const size_t named = std::min(others.size(), kNamed);
    if (!others.empty())
        text += fmt::format(" So it is at {}{}.", fmt::join(others.begin(), others.begin() + ptrdiff_t(named), ", "),
            others.size() > named ? fmt::format(" and {} more", others.size() - named) : std::string());
    return text;
}

} // namespace qs
