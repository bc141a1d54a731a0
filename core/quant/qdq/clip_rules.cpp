// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/marks.h"

namespace qs {

namespace {

void clip(QdqMarks& marks, size_t n)
{
    const DraftNode node = marks.model.draft.nodes[n];
    if (!marks.marked(node.inputs[0]))
        return marks.leaveBehindFloat(n, node.inputs[0]);
    if (!marks.absorbs(n))
        marks.activation(node.inputs[0]);
    if (!marks.skipsOutputs(node))
        marks.activation(node.outputs[0]);
}

} // namespace

std::map<std::string, MarkRule> clipRules() { return { { "Relu", clip }, { "Clip", clip } }; }

} // namespace qs
