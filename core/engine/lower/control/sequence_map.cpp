// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/control/parts.h"
#include "core/engine/lower/control/sequence_parts.h"
#include "core/engine/run/subgraph.h"
#include "core/tensor/container.h"

namespace qs {

namespace {

/// Runs the body for each element of input 0: other sequences give their element of the same place, tensors themselves.
Status mapSequence(const Subgraph& body, StepContext& s)
{
    QS_TRY(const auto first, sequenceInput(s, 0));
    for (size_t i = 1; i < s.inputCount(); ++i)
        if (s.in(i).dtype() == DType::Sequence && itemsOf(s.in(i)).size() != first.size())
            return badInput("its sequences have " + std::to_string(first.size()) + " and "
                + std::to_string(itemsOf(s.in(i)).size()) + " elements");
    std::vector<std::vector<Tensor>> made(s.outputCount());
    for (size_t k = 0; k < first.size(); ++k) {
        if (s.isCancelled())
            return cancelled();
        std::vector<Tensor> values;
        for (size_t i = 0; i < s.inputCount(); ++i)
            values.push_back(s.in(i).dtype() == DType::Sequence ? itemsOf(s.in(i))[k] : s.in(i));
        QS_TRY(std::vector<Tensor> outputs, body.run(s, values));
        for (size_t o = 0; o < made.size(); ++o) {
            if (isContainer(outputs[o].dtype()))
                return badInput("output " + std::to_string(o) + " of its body is a "
                    + std::string(dtypeName(outputs[o].dtype())) + ", which no sequence can hold");
            if (!made[o].empty() && made[o][0].dtype() != outputs[o].dtype())
                return badInput("output " + std::to_string(o) + " of its body is "
                    + std::string(dtypeName(made[o][0].dtype())) + " once and "
                    + std::string(dtypeName(outputs[o].dtype())) + " then");
            made[o].push_back(s.toLayout(outputs[o], Layout::Plain));
        }
    }
    for (size_t o = 0; o < made.size(); ++o) {
        const DType type = made[o].empty() ? body.outputFact(o).dtype : made[o][0].dtype();
        s.setOutput(o, makeSequence(std::move(made[o]), type));
    }
    return {};
}

} // namespace

Result<LoweredNode> lowerSequenceMap(const LowerContext& c)
{
    std::vector<Fact> inputs;
    for (size_t i = 0; i < c.node.inputs.size(); ++i) {
        const bool element = c.inputType(i) == DType::Sequence || c.inputType(i) == DType::Undefined;
        inputs.push_back({ element ? DType::Undefined : c.inputType(i), {}, {} });
    }
    LoweredNode lowered;
    QS_TRY(Subgraph made, Subgraph::make(c, "body", inputs, lowered.captures));
    if (made.inputCount() != c.node.inputs.size() || made.outputCount() < c.node.outputs.size())
        return badInput("its body does not fit its inputs and outputs", {}, "export the model again");
    const auto body = std::make_shared<const Subgraph>(std::move(made));
    lowered.run = [body](StepContext& s) { return mapSequence(*body, s); };
    lowered.kernel = "map";
    lowered.takesContainers = true;
    lowered.foldable = false;
    return lowered;
}

} // namespace qs
