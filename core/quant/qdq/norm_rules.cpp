// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/marks.h"

namespace qs {

namespace {

/// Scale and shift as a product's weight and bias; mean and variance of BatchNormalization stay float.
void norm(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    marks.activation(node.inputs[0]);
    if (node.hasInput(1)) {
        if (marks.isConstant(node.inputs[1]))
            marks.weight(node.inputs[1], node, 1);
        else
            marks.activation(node.inputs[1]);
        if (node.hasInput(2))
            marks.bias(n, 2, node.inputs[1]);
    }
    if (!marks.skipsOutputs(node))
        marks.activations(node.outputs);
}

} // namespace

std::map<std::string, MarkRule> normRules()
{
    return { { "BatchNormalization", norm }, { "InstanceNormalization", norm }, { "LayerNormalization", norm } };
}

} // namespace qs
