// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/marks.h"

#include "core/quant/params/float8.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

/// The output has the values of the input, so it shares its parameters, if the input is quantized at all.
void passOn(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    if (marks.recipe.quantizeUnquantizedInputs)
        marks.activation(node.inputs[0]);
    else if (!marks.marked(node.inputs[0]))
        return marks.leaveBehindFloat(n, node.inputs[0]);
    if (!marks.skipsOutputs(node))
        marks.share(node.outputs[0], node.inputs[0], node);
}

void leaveOld(QdqMarks& marks, size_t n, int64_t first)
{
    marks.leave(n, marks.model.whyTooOld(marks.model.draft.nodes[n], first));
}

void maxPool(QdqMarks& marks, size_t n)
{
    constexpr int64_t kFirstOnCodes = 12;
    if (marks.model.opset() < kFirstOnCodes)
        return leaveOld(marks, n, kFirstOnCodes);
    if (isFloat8(marks.recipe.activationType))
        return marks.leave(n, { FloatCause::Type, "MaxPool takes no float8 codes" });
    passOn(marks, n);
}

void resize(QdqMarks& marks, size_t n)
{
    constexpr int64_t kFirstOnCodes = 11;
    if (marks.model.opset() < kFirstOnCodes)
        return leaveOld(marks, n, kFirstOnCodes);
    passOn(marks, n);
}

void split(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    marks.activation(node.inputs[0]);
    if (!marks.skipsOutputs(node))
        for (const std::string& out : node.outputs)
            marks.share(out, node.inputs[0], node);
}

void gather(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    const std::string& data = node.inputs[0];
    const bool constant = marks.isConstant(data) && marks.model.realType(data) != DType::Undefined;
    if (constant || marks.recipe.quantizeUnquantizedInputs)
        marks.activation(data);
    else if (!marks.marked(data))
        return marks.leaveBehindFloat(n, data);
    marks.share(node.outputs[0], data, node); // whatever types are left out
}

void pad(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    marks.activations(node.inputs);
    if (marks.skipsOutputs(node))
        return;
    // What is padded with zero or with the tensor's own values needs no wider range.
    bool same = node.attributes.text("mode", "constant") != "constant";
    if (!same && !node.hasInput(2))
        same = true;
    if (!same && marks.isConstant(node.inputs[2])) {
        const Tensor* value = marks.model.draft.constant(node.inputs[2]);
        same = value->count() > 0 && elementAsDouble(*value, 0) == 0;
    }
    if (same)
        marks.share(node.outputs[0], node.inputs[0], node);
    else
        marks.activation(node.outputs[0]);
}

void where(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    if (marks.recipe.quantizeUnquantizedInputs)
        marks.activations({ node.inputs[1], node.inputs[2] });
    else if (!marks.marked(node.inputs[1]) || !marks.marked(node.inputs[2]))
        return marks.leaveBehindFloat(n, node.inputs[marks.marked(node.inputs[1]) ? 2 : 1]);
    if (!marks.skipsOutputs(node))
        marks.activation(node.outputs[0]);
}

} // namespace

std::map<std::string, MarkRule> movementRules()
{
    return { { "AveragePool", passOn }, { "Flatten", passOn }, { "Gather", gather }, { "GatherElements", gather },
        { "MaxPool", maxPool }, { "Pad", pad }, { "Reshape", passOn }, { "Resize", resize }, { "Slice", passOn },
        { "Split", split }, { "Squeeze", passOn }, { "TopK", passOn }, { "Transpose", passOn }, { "Unsqueeze", passOn },
        { "Where", where } };
}

} // namespace qs
