// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/broadcast_operands.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

Shape padded(const Shape& shape, size_t rank)
{
    Shape out(rank - shape.size(), 1);
    out.insert(out.end(), shape.begin(), shape.end());
    return out;
}

/// True when a plain tensor of this (padded) shape has the same bytes with channels last.
bool sameEitherWay(const Shape& s)
{
    return s[1] == 1 || std::all_of(s.begin() + 2, s.end(), [](int64_t d) { return d == 1; });
}

/// Channels last when an operand of full rank is, and no operand of smaller rank would have to be rearranged.
Layout commonLayout(std::span<const Tensor* const> operands, size_t rank)
{
    if (rank < 3)
        return Layout::Plain;
    bool anyLast = false;
    for (const Tensor* t : operands) {
        if (t->layout() == Layout::ChannelsLast && t->rank() == rank)
            anyLast = true;
        else if (t->layout() == Layout::ChannelsLast
            || (!sameEitherWay(padded(t->shape(), rank)) && (t->rank() < rank || dtypeBits(t->dtype()) < 8)))
            return Layout::Plain;
    }
    return anyLast ? Layout::ChannelsLast : Layout::Plain;
}

} // namespace

Shape memoryShape(const Shape& shape, Layout layout)
{
    if (layout == Layout::Plain)
        return shape;
    Shape out = shape;
    std::rotate(out.begin() + 1, out.begin() + 2, out.end());
    return out;
}

size_t memoryAxis(size_t axis, size_t rank, Layout layout)
{
    if (layout == Layout::Plain || axis == 0)
        return axis;
    return axis == 1 ? rank - 1 : axis - 1;
}

Tensor inLayout(const StepContext& c, const Tensor& t, Layout layout)
{
    if (t.layout() == layout)
        return t;
    Tensor out = c.allocate(t.dtype(), t.shape(), layout);
    copyToLayout(t, out);
    return out;
}

Result<BroadcastOperands> prepareBroadcast(const StepContext& c, std::span<const Tensor* const> operands)
{
    BroadcastOperands out;
    for (const Tensor* t : operands) {
        auto shape = broadcastShapes(out.shape, t->shape());
        if (!shape)
            return badInput("shapes " + shapeText(out.shape) + " and " + shapeText(t->shape()) + " do not broadcast");
        out.shape = std::move(*shape);
    }
    const size_t rank = out.shape.size();
    out.layout = commonLayout(operands, rank);
    std::vector<Shape> shapes;
    for (const Tensor* t : operands) {
        const bool asIs = out.layout == Layout::ChannelsLast && sameEitherWay(padded(t->shape(), rank));
        out.tensors.push_back(asIs ? *t : inLayout(c, *t, out.layout));
        shapes.push_back(memoryShape(padded(t->shape(), rank), out.layout));
    }
    out.loop = makeBroadcastLoop(shapes, memoryShape(out.shape, out.layout));
    return out;
}

} // namespace qs
