// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph_pair.h"

#include "core/match/graph/folded_steps.h"

#include <algorithm>
#include <string_view>

namespace qs {

namespace {

/// The values that stand for a root: itself, and behind its quantizer or scaling.
std::vector<ValueId> formsOf(const GraphPair& g, ValueId root)
{
    std::vector<ValueId> forms { root };
    if (const auto quantizer = g.view.ofValue(root))
        forms.push_back(g.view.quantizers()[*quantizer].shown());
    forms.push_back(ValueEvidence::beforeBounds(g.q.graph(), root));
    if (const ValueId scaled = g.view.scaledSums(root); scaled.valid())
        forms.push_back(scaled);
    return forms;
}

void sortOnce(std::vector<ValueId>& list)
{
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

} // namespace

Verdict GraphPair::verdict(ValueId floatValue, ValueId quantRoot) const
{
    Verdict found = Verdict::Unknown;
    if (!evidence)
        return found;
    for (const ValueId form : formsOf(*this, quantRoot)) {
        const Verdict one = evidence->verdict(floatValue, form);
        if (one == Verdict::Same)
            return one;
        if (one == Verdict::Different)
            found = one;
    }
    return found;
}

bool GraphPair::madeByOneOperator(ValueId floatValue, ValueId quantRoot) const
{
    const NodeId ofFloat = f.graph().value(floatValue).producer, ofQuant = q.graph().value(quantRoot).producer;
    if (!ofFloat.valid() || !ofQuant.valid())
        return false;
    // SkipLayerNormalization and EmbedLayerNormalization end with what the operator without a prefix is.
    constexpr std::string_view kNormalization = "LayerNormalization";
    const std::string a = f.opClass(ofFloat), b = q.opClass(ofQuant);
    return a == b || (a.ends_with(kNormalization) && b.ends_with(kNormalization));
}

bool GraphPair::isBoundedThere(ValueId floatValue, ValueId quantRoot) const
{
    const NodeId activation = f.graph().value(floatValue).producer;
    if (!activation.valid() || f.kind(activation) != FlowKind::Activation || !view.ofValue(quantRoot))
        return false;
    const auto inputs = f.dataInputs(activation);
    return !inputs.empty() && madeByOneOperator(inputs[0], quantRoot);
}

bool GraphPair::mayBeFault(ValueId floatValue, ValueId quantRoot) const
{
    if (!evidence || !(madeByOneOperator(floatValue, quantRoot) || isBoundedThere(floatValue, quantRoot)))
        return false;
    return std::ranges::all_of(formsOf(*this, quantRoot), [&](ValueId form) {
        return evidence->verdict(floatValue, form) != Verdict::Different || evidence->mayBeFault(floatValue, form);
    });
}

bool GraphPair::replaces(ValueId quantRoot, ValueId floatInput, NodeId activation) const
{
    const auto quantizer = view.ofValue(quantRoot);
    if (!evidence || !quantizer || f.kind(activation) != FlowKind::Activation)
        return false;
    const ValueId real = view.quantizers()[*quantizer].real;
    return evidence->verdict(floatInput, real.valid() ? real : ValueEvidence::beforeBounds(q.graph(), quantRoot))
        == Verdict::Same
        || evidence->verdict(floatInput, view.quantizers()[*quantizer].shown()) == Verdict::Same;
}

bool GraphPair::cutsBelowZero(ValueId quantRoot) const
{
    const auto quantizer = view.ofValue(quantRoot);
    if (!quantizer)
        return false;
    const QuantParams& params = view.quantizers()[*quantizer].params;
    if (params.scale.size() != 1 || !isInteger(params.dtype))
        return false;
    return params.zeroPoint.size() == 1 && params.low() >= -0.5 * double(params.scale[0]);
}

ValueId GraphPair::whole(NodeId floatProduct, NodeId quantProduct) const
{
    const auto outputOf = [&](NodeId id) {
        const auto& outputs = q.graph().node(id).outputs;
        return outputs.empty() ? ValueId() : q.root(outputs[0]);
    };
    const ValueId behind = FoldedSteps(f.plan(), floatProduct, q.plan(), view, quantProduct).behindOwn();
    if (behind.valid())
        return q.root(behind);
    const ValueId made = outputOf(quantProduct);
    if (!made.valid() || !ownBias(f.plan(), floatProduct).valid() || ownBias(q.plan(), quantProduct).valid()
        || q.readers(made).size() != 1)
        return made;
    const NodeId next = q.readers(made)[0];
    const bool adds = q.kind(next) == FlowKind::Affine && q.graph().node(next).opType == "Add";
    return adds ? outputOf(next) : made;
}

std::vector<ValueId> GraphPair::equalRoots(ValueId floatValue) const
{
    std::vector<ValueId> roots;
    if (evidence)
        for (const ValueId id : evidence->equalsOfFloat(floatValue))
            roots.push_back(q.root(ValueEvidence::withoutBounds(q.graph(), id)));
    sortOnce(roots);
    return roots;
}

std::vector<ValueId> GraphPair::equalFloats(ValueId quantRoot) const
{
    std::vector<ValueId> floats;
    if (evidence)
        for (const ValueId form : formsOf(*this, quantRoot))
            for (const ValueId id : evidence->equalsOfQuant(form))
                floats.push_back(f.root(id));
    sortOnce(floats);
    return floats;
}

} // namespace qs
