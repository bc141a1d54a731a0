// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/marks.h"

namespace qs {

namespace {

void weightAndBias(QdqMarks& marks, size_t n, int64_t axis, float beta = 1)
{
    const DraftNode node = marks.model.draft.nodes[n];
    marks.activation(node.inputs[0]);
    if (!marks.skipsOutputs(node))
        marks.activation(node.outputs[0]);
    if (!node.hasInput(1))
        return;
    marks.weight(node.inputs[1], node, axis);
    if (node.hasInput(2))
        marks.bias(n, 2, node.inputs[1], beta);
}

void conv(QdqMarks& marks, size_t n) { weightAndBias(marks, n, 0); }
void convTranspose(QdqMarks& marks, size_t n) { weightAndBias(marks, n, 1); }

void gemm(QdqMarks& marks, size_t n)
{
    DraftNode& node = marks.model.draft.nodes[n];
    const float beta = node.attributes.real("beta", 1);
    weightAndBias(marks, n, node.attributes.integer("transB", 0) != 0 ? 0 : 1, beta);
    // ONNX Runtime moves beta into the bias' scale and does not take it back (its bias then counts as one).
    if (node.attributes.has("beta") && node.hasInput(2) && beta != 1) {
        node.attributes.set("beta", 1.0f);
        node.attributesChanged = true;
    }
}

void matmul(QdqMarks& marks, size_t n)
{
    const DraftNode& node = marks.model.draft.nodes[n];
    for (const std::string& in : node.inputs) {
        if (marks.isConstant(in))
            marks.weight(in, node, 1);
        else
            marks.activation(in);
    }
    if (!marks.skipsOutputs(node))
        marks.activation(node.outputs[0]);
}

} // namespace

std::map<std::string, MarkRule> productRules()
{
    return { { "Conv", conv }, { "ConvTranspose", convTranspose }, { "Gemm", gemm }, { "MatMul", matmul } };
}

} // namespace qs
