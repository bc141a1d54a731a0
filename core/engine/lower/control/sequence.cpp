// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/control/sequence_parts.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/container.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Result<std::span<const Tensor>> sequenceInput(const StepContext& s, size_t i)
{
    const Tensor& t = s.in(i);
    if (t.dtype() == DType::Sequence)
        return itemsOf(t);
    return badInput("its input " + std::to_string(i) + " is " + std::string(dtypeName(t.dtype())) + ", not a sequence");
}

namespace {

/// More parts than anybody splits a tensor into, each an allocation of its own.
constexpr int64_t kMostParts = 1 << 20;

/// Place in a sequence; negative ones count from `size`, and `size` itself is a place when `end` says so.
Result<size_t> placeIn(const Tensor& position, size_t size, bool end)
{
    if (!isInteger(position.dtype()) || position.count() != 1)
        return badInput("the position must be one integer");
    const int64_t given = elementAsInt(position, 0), n = static_cast<int64_t>(size);
    const int64_t place = given < 0 ? given + n : given;
    if (place < 0 || place > n - (end ? 0 : 1))
        return badInput("position " + std::to_string(given) + " is outside of a sequence of " + std::to_string(n));
    return static_cast<size_t>(place);
}

/// Issue when a value cannot be an element beside those of type `element`.
Status fitsSequence(const Tensor& item, DType element)
{
    if (item.dtype() == DType::Sequence || item.dtype() == DType::NoValue)
        return badInput("an element of a sequence cannot be a " + std::string(dtypeName(item.dtype())));
    if (element == DType::Undefined || element == item.dtype())
        return {};
    return badInput(
        "a sequence of " + std::string(dtypeName(element)) + " cannot hold a " + std::string(dtypeName(item.dtype())));
}

Status runConstruct(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, std::max<size_t>(1, s.inputCount())));
    const DType type = s.in(0).dtype();
    std::vector<Tensor> items;
    for (size_t i = 0; i < s.inputCount(); ++i) {
        QS_CHECK(fitsSequence(s.in(i), type));
        items.push_back(s.in(i));
    }
    s.setOutput(0, makeSequence(std::move(items), type));
    return {};
}

Status runEmpty(const Node& node, KernelMode, StepContext& s)
{
    const int64_t type = node.attributes.integer("dtype", int64_t(DType::Float32));
    if (type <= 0 || type > int64_t(DType::Int2))
        return badInput("the type number " + std::to_string(type) + " is unknown");
    s.setOutput(0, makeSequence({}, static_cast<DType>(type)));
    return {};
}

Status runAt(const Node&, KernelMode, StepContext& s)
{
    QS_TRY(const auto items, sequenceInput(s, 0));
    QS_TRY(const size_t place, placeIn(s.in(1), items.size(), false));
    s.setOutput(0, items[place]);
    return {};
}

Status runInsert(const Node&, KernelMode, StepContext& s)
{
    QS_TRY(const auto items, sequenceInput(s, 0));
    const Tensor& item = s.in(1);
    QS_CHECK(fitsSequence(item, elementTypeOf(s.in(0))));
    size_t place = items.size();
    if (s.input(2)) {
        QS_TRY(place, placeIn(s.in(2), items.size(), true));
    }
    std::vector<Tensor> longer;
    longer.reserve(items.size() + 1);
    longer.insert(longer.end(), items.begin(), items.begin() + std::ptrdiff_t(place));
    longer.push_back(item);
    longer.insert(longer.end(), items.begin() + std::ptrdiff_t(place), items.end());
    s.setOutput(0, makeSequence(std::move(longer), item.dtype()));
    return {};
}

Status runErase(const Node&, KernelMode, StepContext& s)
{
    QS_TRY(const auto items, sequenceInput(s, 0));
    if (items.empty())
        return badInput("an empty sequence has nothing to erase");
    size_t place = items.size() - 1;
    if (s.input(1)) {
        QS_TRY(place, placeIn(s.in(1), items.size(), false));
    }
    std::vector<Tensor> shorter(items.begin(), items.end());
    shorter.erase(shorter.begin() + std::ptrdiff_t(place));
    s.setOutput(0, makeSequence(std::move(shorter), elementTypeOf(s.in(0))));
    return {};
}

Status runLength(const Node&, KernelMode, StepContext& s)
{
    QS_TRY(const auto items, sequenceInput(s, 0));
    s.setOutput(0, Tensor::scalar<int64_t>(static_cast<int64_t>(items.size())));
    return {};
}

/// Sizes of the parts of an axis: one each without `split`, equal ones for a scalar (the last may be smaller).
Result<std::vector<int64_t>> partSizes(const Tensor* split, int64_t whole)
{
    if (split && !isInteger(split->dtype()))
        return badInput("split must hold integers");
    if (split && split->rank() > 0) {
        std::vector<int64_t> sizes = toInts(*split);
        int64_t sum = 0;
        for (const int64_t size : sizes)
            if (size < 0 || __builtin_add_overflow(sum, size, &sum))
                return badInput("split has the impossible size " + std::to_string(size));
        if (sum != whole)
            return badInput("split adds up to " + std::to_string(sum) + ", but the axis has " + std::to_string(whole));
        return sizes;
    }
    const int64_t size = split ? elementAsInt(*split, 0) : 1;
    if (size <= 0)
        return badInput("split is " + std::to_string(size) + ", but parts need a size");
    if (whole / size >= kMostParts)
        return badInput("it would split an axis of " + std::to_string(whole) + " into more than "
            + std::to_string(kMostParts) + " parts");
    std::vector<int64_t> sizes(static_cast<size_t>(whole / size), size);
    if (whole % size != 0)
        sizes.push_back(whole % size);
    return sizes;
}

Status runSplitToSequence(const Node& node, KernelMode mode, StepContext& s)
{
    const Tensor& x = s.in(0);
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 0), x.rank()));
    QS_TRY(const std::vector<int64_t> sizes, partSizes(s.input(1), x.dim(axis)));
    const bool dropsAxis = !s.input(1) && node.attributes.integer("keepdims", 1) == 0;
    const Movable movable({ &x });
    const auto from = rowMajorStrides(x.shape());
    std::vector<Tensor> parts;
    int64_t at = 0;
    for (const int64_t size : sizes) {
        Shape shape = x.shape();
        shape[axis] = size;
        Tensor part = s.allocate(movable.dtype(), shape);
        copyStrided(mode, movable[0], at * from[axis], part, 0, { shape, from, rowMajorStrides(shape) });
        at += size;
        part = movable.back(part);
        if (dropsAxis)
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        parts.push_back(part.reshaped(shape));
    }
    s.setOutput(0, makeSequence(std::move(parts), x.dtype()));
    return {};
}

/// What a concatenation puts together: the elements, with one more axis when it is a new one.
Result<std::vector<Tensor>> alongAxis(std::span<const Tensor> items, int64_t givenAxis, bool newAxis, size_t& axis)
{
    if (items.empty())
        return badInput("an empty sequence cannot be concatenated: nothing says the shape");
    if (isContainer(items[0].dtype()))
        return badInput("a sequence of maps cannot be concatenated");
    QS_TRY(axis, axisOf(givenAxis, items[0].rank() + (newAxis ? 1 : 0)));
    std::vector<Tensor> parts;
    for (const Tensor& item : items) {
        Shape shape = item.shape();
        if (newAxis && shape.size() >= axis)
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
        if (item.dtype() != items[0].dtype())
            return badInput("its elements are " + std::string(dtypeName(items[0].dtype())) + " and "
                + std::string(dtypeName(item.dtype())));
        bool fits = parts.empty() || shape.size() == parts[0].rank();
        for (size_t d = 0; fits && !parts.empty() && d < shape.size(); ++d)
            fits = (d == axis && !newAxis) || shape[d] == parts[0].dim(d);
        if (!fits)
            return badInput(
                "its elements do not fit together: " + shapeText(items[0].shape()) + " and " + shapeText(item.shape()));
        parts.push_back(item.reshaped(shape));
    }
    return parts;
}

Status runConcatSequence(const Node& node, KernelMode mode, StepContext& s)
{
    QS_TRY(const auto items, sequenceInput(s, 0));
    size_t axis = 0;
    const bool newAxis = node.attributes.integer("new_axis", 0) != 0;
    QS_TRY(const auto parts, alongAxis(items, node.attributes.integer("axis", 0), newAxis, axis));
    Shape shape = parts[0].shape();
    std::vector<const Tensor*> sources { &parts[0] };
    for (const Tensor& part : std::span(parts).subspan(1)) {
        if (__builtin_add_overflow(shape[axis], part.dim(axis), &shape[axis]))
            return badInput("the sizes add up to too much");
        sources.push_back(&part);
    }
    const Movable movable(sources);
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape));
    const auto to = rowMajorStrides(shape);
    int64_t at = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        const Shape& part = parts[i].shape();
        copyStrided(mode, movable[i], 0, out, at * to[axis], { part, rowMajorStrides(part), to });
        at += part[axis];
    }
    s.setOutput(0, movable.back(out));
    return {};
}

Status runOptional(const Node&, KernelMode, StepContext& s)
{
    s.setOutput(0, s.input(0) ? s.in(0) : makeNoValue());
    return {};
}

Status runGetElement(const Node&, KernelMode, StepContext& s)
{
    if (s.in(0).dtype() == DType::NoValue)
        return badInput("the optional is empty, so that there is no element to get");
    s.setOutput(0, s.in(0));
    return {};
}

Status runHasElement(const Node&, KernelMode, StepContext& s)
{
    Tensor has = s.allocate(DType::Bool, {});
    has.fill<uint8_t>()[0] = s.input(0) && s.in(0).dtype() != DType::NoValue;
    s.setOutput(0, std::move(has));
    return {};
}

} // namespace

void lowerSequences(LoweringRegistry& r)
{
    r.add("", "SequenceConstruct", makingContainers<runConstruct>);
    r.add("", "SequenceEmpty", makingContainers<runEmpty>);
    r.add("", "SequenceAt", onContainers<runAt>);
    r.add("", "SequenceInsert", onContainers<runInsert>);
    r.add("", "SequenceErase", onContainers<runErase>);
    r.add("", "SequenceLength", onContainers<runLength>);
    r.add("", "SplitToSequence", makingContainers<runSplitToSequence>);
    r.add("", "ConcatFromSequence", onContainers<runConcatSequence>);
    r.add("", "Optional", onContainers<runOptional>);
    r.add("", "OptionalGetElement", onContainers<runGetElement>);
    r.add("", "OptionalHasElement", onContainers<runHasElement>);
    lowerMaps(r);
}

} // namespace qs
