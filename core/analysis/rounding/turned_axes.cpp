// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/turned_axes.h"

#include <algorithm>
#include <vector>

namespace qs {

namespace {

/// What a value is made of by Transposes alone, and where its axes lie there.
struct Turned {
    ValueId before;
    std::vector<int64_t> axes;
};

std::optional<Turned> turnedFrom(const Plan& plan, const QuantView* view, ValueId value)
{
    constexpr size_t kMost = 16; // nodes
    const auto& dims = plan.facts().of(value).dims;
    if (!dims)
        return std::nullopt;
    Turned turned { value, {} };
    for (size_t i = 0; i < dims->size(); ++i)
        turned.axes.push_back(int64_t(i));
    const Graph& graph = plan.graph();
    for (size_t i = 0; i < kMost; ++i) {
        const NodeId producer = graph.value(turned.before).producer;
        if (!producer.valid() || !graph.node(producer).hasInput(0))
            break;
        const Node& node = graph.node(producer);
        if (node.is("Transpose")) {
            const std::vector<int64_t> order = node.attributes.integers("perm");
            const auto rank = int64_t(turned.axes.size());
            if (!order.empty() && (int64_t(order.size()) != rank || std::ranges::any_of(order, [&](int64_t axis) {
                    return axis < 0 || axis >= rank;
                })))
                return std::nullopt;
            for (int64_t& axis : turned.axes)
                axis = order.empty() ? rank - 1 - axis : order[size_t(axis)];
        } else if (!view || !view->isPlumbing(producer)) {
            break;
        }
        turned.before = node.inputs[0];
    }
    return turned;
}

/// Of the value, or of a form that quantizers give it.
bool arePaired(const ComparePair& pair, ValueId ofFloat, ValueId ofQuant)
{
    const auto& quantizers = pair.quantView->quantizers();
    return std::ranges::any_of(pair.alignment->values, [&](const ValuePair& p) {
        if (p.floatValue != ofFloat)
            return false;
        if (p.quantValue == ofQuant || !p.quantizer || *p.quantizer >= quantizers.size())
            return p.quantValue == ofQuant;
        const Quantizer& q = quantizers[*p.quantizer];
        return q.real == ofQuant || q.codes == ofQuant;
    });
}

} // namespace

std::optional<AxesBefore> axesBefore(
    const ComparePair& pair, NodeId floatNode, NodeId quantNode, int64_t floatAxis, int64_t quantAxis)
{
    const Node &f = pair.floatPlan->graph().node(floatNode), &q = pair.quantPlan->graph().node(quantNode);
    if (!f.hasInput(0) || !q.hasInput(0))
        return std::nullopt;
    const auto theirs = turnedFrom(*pair.floatPlan, nullptr, f.inputs[0]);
    const auto own = turnedFrom(*pair.quantPlan, pair.quantView.get(), q.inputs[0]);
    if (!theirs || !own || theirs->axes.size() != own->axes.size())
        return std::nullopt;
    const auto rank = int64_t(own->axes.size());
    const auto place = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
    const int64_t x = place(floatAxis), y = place(quantAxis);
    if (std::min(x, y) < 0 || std::max(x, y) >= rank)
        return std::nullopt;
    const bool alike = theirs->axes == own->axes;
    if (!alike && !arePaired(pair, theirs->before, own->before))
        return std::nullopt;
    return AxesBefore { theirs->axes[size_t(x)], own->axes[size_t(y)], alike };
}

} // namespace qs
