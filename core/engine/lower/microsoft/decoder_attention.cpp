// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"

#include "core/graph/domains.h"

#include <array>

/// DecoderMaskedMultiHeadAttention: MultiHeadAttention for one new token, with its inputs in another order.
namespace qs {

namespace {

/// Of its inputs, in the order of MultiHeadAttention: query, key, value, bias, mask, attention_bias, past_key,
/// past_value, past_sequence_length, cache_indirection. Its beam_width says nothing that the last one does not.
constexpr std::array<size_t, 10> kSlots { 0, 1, 2, 10, 3, 4, 5, 6, 7, 9 };

Result<LoweredNode> lowerDecoderMasked(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const Attributes& a = c.node.attributes;
    if (c.node.hasInput(5) && !(a.integer("past_present_share_buffer", 0) && c.node.hasInput(7)))
        return badInput("a past without past_present_share_buffer and past_sequence_length is not supported");
    Node node = innerNode("MultiHeadAttention", kMicrosoftDomain, 1);
    node.attributes.set("num_heads", a.integer("num_heads", 0));
    for (const char* name : { "scale", "mask_filter_value" })
        if (const auto* value = a.get<float>(name))
            node.attributes.set(name, *value);
    std::vector<InnerOp::Input> inputs;
    for (const size_t slot : kSlots)
        inputs.push_back(InnerOp::of(c, slot));
    const size_t outputs = std::min<size_t>(c.node.outputs.size(), 4);
    QS_TRY(const InnerOp whole, InnerOp::make(std::move(node), std::move(inputs), c.mode, outputs));
    const auto run = [whole](StepContext& s) -> Status {
        std::vector<const Tensor*> given;
        for (const size_t slot : kSlots)
            given.push_back(s.input(slot));
        if (s.in(0).rank() == 3 && s.in(0).dim(1) != 1)
            return badInput("it takes one new token, not " + std::to_string(s.in(0).dim(1)));
        QS_TRY(std::vector<Tensor> made, whole.runAll(s, given));
        for (size_t i = 0; i < made.size(); ++i)
            s.setOutput(i, std::move(made[i]));
        return {};
    };
    return LoweredNode { run, whole.kernel() };
}

} // namespace

void lowerDecoderAttention(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "DecoderMaskedMultiHeadAttention", lowerDecoderMasked);
}

} // namespace qs
