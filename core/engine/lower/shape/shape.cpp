// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"
#include "core/tensor/empty_shape.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qs {

namespace {

Result<LoweredNode> lowerConstant(const LowerContext& c)
{
    const auto value = constantNodeValue(c.node);
    if (!value)
        return badInput("its value is of a kind that cannot be read (a sparse tensor, or missing)");
    return LoweredNode { [t = *value](StepContext& s) -> Status {
                            s.setOutput(0, t);
                            return {};
                        },
        "constant" };
}

Status runConstantOfShape(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const auto* given = node.attributes.get<Tensor>("value");
    const Tensor value = given && given->count() == 1 ? *given : Tensor::of<float>({ 1 }, { 0.0f });
    const Shape shape = toInts(s.in(0));
    const Movable movable({ &value });
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape));
    const std::vector<int64_t> still(shape.size(), 0);
    copyStrided(KernelMode::Fast, movable[0], 0, out, 0, { shape, still, rowMajorStrides(shape) });
    s.setOutput(0, movable.back(out));
    return {};
}

Status runShape(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& shape = s.in(0).shape();
    const auto rank = static_cast<int64_t>(shape.size());
    const auto bound = [&](const char* name, int64_t fallback) {
        const int64_t v = node.attributes.integer(name, fallback);
        return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
    };
    const int64_t start = bound("start", 0), end = std::max(bound("end", rank), start);
    s.setOutput(0, Tensor::of<int64_t>({ end - start }, { shape.begin() + start, shape.begin() + end }));
    return {};
}

Status runSize(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    s.setOutput(0, Tensor::scalar<int64_t>(s.in(0).count()));
    return {};
}

Status viewAs(StepContext& s, const Shape& shape)
{
    if (elementCount(shape) != s.in(0).count() || isEndlessNothing(shape, kLongestNothing))
        return badInput(
            "an input of shape " + shapeText(s.in(0).shape()) + " cannot take the shape " + shapeText(shape));
    s.setOutput(0, s.in(0).reshaped(shape));
    return {};
}

Status runReshape(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const auto wanted = listOf(node, s, "shape", 1);
    if (!wanted)
        return badInput("the new shape is missing");
    const bool allowZero = node.attributes.integer("allowzero", 0) != 0;
    Shape shape = *wanted;
    int64_t known = 1;
    std::optional<size_t> rest;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0 && !allowZero) {
            if (i >= s.in(0).rank())
                return badInput("the new shape copies a size that the input does not have");
            shape[i] = s.in(0).dim(i);
        }
        if (shape[i] == -1 && !rest)
            rest = i;
        else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
            return badInput("the new shape " + shapeText(*wanted) + " is impossible");
    }
    if (rest)
        shape[*rest] = known > 0 ? s.in(0).count() / known : 0;
    return viewAs(s, shape);
}

Status runFlatten(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const auto rank = static_cast<int64_t>(in.size());
    const int64_t axis = node.attributes.integer("axis", 1);
    if (axis < -rank || axis > rank)
        return badInput("axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(rank));
    const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    return viewAs(s, { product(in, 0, split), product(in, split, in.size()) });
}

Status runSqueeze(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const auto axes = listOf(node, s, "axes", 1);
    std::vector<size_t> dropped;
    if (axes) {
        QS_TRY(dropped, axesOf(*axes, in.size()));
    } else {
        for (size_t i = 0; i < in.size(); ++i)
            if (in[i] == 1)
                dropped.push_back(i);
    }
    Shape out;
    for (size_t i = 0; i < in.size(); ++i)
        if (std::find(dropped.begin(), dropped.end(), i) == dropped.end())
            out.push_back(in[i]);
    return viewAs(s, out);
}

Status runUnsqueeze(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const auto axes = listOf(node, s, "axes", 1);
    if (!axes)
        return badInput("the axes are missing");
    QS_TRY(const auto added, axesOf(*axes, in.size() + axes->size()));
    Shape out;
    size_t next = 0;
    for (size_t i = 0; i < in.size() + added.size(); ++i)
        out.push_back(std::find(added.begin(), added.end(), i) != added.end() ? 1 : in[next++]);
    return viewAs(s, out);
}

Status runIdentity(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    s.setOutput(0, s.in(0));
    return {};
}

Result<LoweredNode> lowerIdentity(const LowerContext& c)
{
    QS_TRY(LoweredNode lowered, anyView<runIdentity>(c));
    lowered.takesContainers = true;
    return lowered;
}

Status runBitCast(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const auto type = static_cast<DType>(node.attributes.integer("to", 0));
    if (s.in(0).dtype() == DType::String || dtypeBits(type) == 0 || dtypeBits(s.in(0).dtype()) != dtypeBits(type))
        return badInput(
            std::string(dtypeName(s.in(0).dtype())) + " and " + std::string(dtypeName(type)) + " differ in size");
    s.setOutput(0, s.in(0).reinterpreted(type));
    return {};
}

Status runDropout(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    if (const Tensor* training = s.input(2); training && training->count() == 1 && elementAsInt(*training, 0) != 0)
        if (const Tensor* ratio = s.input(1); !ratio || ratio->count() != 1 || elementAsDouble(*ratio, 0) != 0)
            return badInput("it is in training mode", {}, "export the model for inference");
    s.setOutput(0, s.in(0));
    if (s.outputCount() < 2)
        return {};
    const DType type = node.opset >= 10 ? DType::Bool : s.in(0).dtype();
    if (type != DType::Bool && !isNumeric(type))
        return unsupportedType(type);
    Tensor mask = s.allocate(type, s.in(0).shape());
    const std::vector<float> ones(static_cast<size_t>(mask.count()), 1.0f);
    storeElements(mask.dtype(), writable(mask), 0, ones.data(), ones.size());
    s.setOutput(1, std::move(mask));
    return {};
}

template <class T> Tensor rangeOf(const StepContext& s, int64_t count)
{
    Tensor out = s.allocate(dtypeOf<T>(), { count });
    const T start = s.in(0).data<T>()[0], delta = s.in(2).data<T>()[0];
    for (int64_t i = 0; i < count; ++i)
        if constexpr (std::is_integral_v<T>) // the last step may leave the type
            out.fill<T>()[static_cast<size_t>(i)] = static_cast<T>(uint64_t(start) + uint64_t(i) * uint64_t(delta));
        else
            out.fill<T>()[static_cast<size_t>(i)] = static_cast<T>(start + static_cast<T>(i) * delta);
    return out;
}

/// float16 and bfloat16: computed in float32, stored rounded.
Tensor narrowRange(const StepContext& s, int64_t count)
{
    Tensor out = s.allocate(s.in(0).dtype(), { count });
    const bool brain = out.dtype() == DType::BFloat16;
    const auto start = static_cast<float>(elementAsDouble(s.in(0), 0));
    const auto delta = static_cast<float>(elementAsDouble(s.in(2), 0));
    for (int64_t i = 0; i < count; ++i) {
        const float v = start + static_cast<float>(i) * delta;
        out.fill<uint16_t>()[static_cast<size_t>(i)] = brain ? floatToBFloat16(v) : floatToFloat16(v);
    }
    return out;
}

Status runRange(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    for (size_t i = 0; i < 3; ++i)
        if (s.in(i).count() != 1 || s.in(i).dtype() != s.in(0).dtype())
            return badInput("start, limit and delta must be single numbers of one type");
    const double start = elementAsDouble(s.in(0), 0), delta = elementAsDouble(s.in(2), 0);
    const double count = std::ceil((elementAsDouble(s.in(1), 0) - start) / delta);
    if (delta == 0 || !(count < 1e12))
        return badInput("the step " + std::to_string(delta) + " gives no end");
    const auto n = static_cast<int64_t>(std::max(0.0, count));
    switch (s.in(0).dtype()) {
    case DType::Float32:
        s.setOutput(0, rangeOf<float>(s, n));
        return {};
    case DType::Float64:
        s.setOutput(0, rangeOf<double>(s, n));
        return {};
    case DType::Float16:
    case DType::BFloat16:
        s.setOutput(0, narrowRange(s, n));
        return {};
    case DType::Int16:
        s.setOutput(0, rangeOf<int16_t>(s, n));
        return {};
    case DType::Int32:
        s.setOutput(0, rangeOf<int32_t>(s, n));
        return {};
    case DType::Int64:
        s.setOutput(0, rangeOf<int64_t>(s, n));
        return {};
    default:
        return badInput("ranges of type " + std::string(dtypeName(s.in(0).dtype())) + " are not supported");
    }
}

/// 1 as one element of `type`; empty for types without numbers.
std::vector<std::byte> oneElement(DType type)
{
    const auto bytesOf = [](auto v) {
        std::vector<std::byte> b(sizeof(v));
        std::memcpy(b.data(), &v, sizeof(v));
        return b;
    };
    switch (type) {
    case DType::Float32:
        return bytesOf(1.0f);
    case DType::Float64:
        return bytesOf(1.0);
    case DType::Float16:
        return bytesOf(floatToFloat16(1));
    case DType::BFloat16:
        return bytesOf(floatToBFloat16(1));
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
        return bytesOf(uint8_t(1));
    case DType::UInt16:
    case DType::Int16:
        return bytesOf(uint16_t(1));
    case DType::UInt32:
    case DType::Int32:
        return bytesOf(uint32_t(1));
    case DType::UInt64:
    case DType::Int64:
        return bytesOf(uint64_t(1));
    default:
        return {};
    }
}

Status runEyeLike(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    if (s.in(0).rank() != 2)
        return badInput("the input needs rank 2");
    const auto asked = static_cast<DType>(node.attributes.integer("dtype", 0));
    const DType type = asked == DType::Undefined ? s.in(0).dtype() : asked;
    const auto one = oneElement(type);
    if (one.empty())
        return badInput("there is no 1 of type " + std::string(dtypeName(type)));
    Tensor out = s.allocate(type, s.in(0).shape());
    std::memset(writable(out), 0, out.byteCount());
    const int64_t rows = out.dim(0), columns = out.dim(1);
    const int64_t k = std::clamp(node.attributes.integer("k", 0), -rows, columns); // beyond: nothing is set
    for (int64_t r = 0; r < rows; ++r)
        if (r + k >= 0 && r + k < columns)
            std::memcpy(writable(out) + static_cast<size_t>(r * columns + r + k) * one.size(), one.data(), one.size());
    s.setOutput(0, std::move(out));
    return {};
}

Status runNonZero(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Tensor& x = s.in(0);
    std::vector<int64_t> found;
    for (int64_t i = 0; i < x.count(); ++i) {
        const bool set
            = x.dtype() == DType::String ? !x.stringData()[static_cast<size_t>(i)].empty() : elementAsDouble(x, i) != 0;
        if (set)
            found.push_back(i);
    }
    const auto strides = rowMajorStrides(x.shape());
    const auto n = static_cast<int64_t>(found.size());
    Tensor out = s.allocate(DType::Int64, { static_cast<int64_t>(x.rank()), n });
    auto cells = out.fill<int64_t>();
    for (size_t d = 0; d < x.rank(); ++d)
        for (size_t i = 0; i < found.size(); ++i)
            cells[d * found.size() + i] = found[i] / strides[d] % x.dim(d);
    s.setOutput(0, std::move(out));
    return {};
}

Status runExpand(const Node&, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Shape& in = s.in(0).shape();
    const auto shape = broadcastShapes(in, toInts(s.in(1)));
    if (!shape)
        return badInput("an input of shape " + shapeText(in) + " cannot be expanded to " + shapeText(toInts(s.in(1))));
    const Movable movable({ &s.in(0) });
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), *shape));
    auto from = rowMajorStrides(in);
    for (size_t i = 0; i < in.size(); ++i)
        from[i] = in[i] == 1 ? 0 : from[i];
    from.insert(from.begin(), shape->size() - in.size(), 0);
    copyStrided(mode, movable[0], 0, out, 0, { *shape, from, rowMajorStrides(*shape) });
    s.setOutput(0, movable.back(out));
    return {};
}

Status runTile(const Node&, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Shape& in = s.in(0).shape();
    std::vector<int64_t> repeats = toInts(s.in(1));
    if (s.input(2)) { // opset 1: one count for one axis
        QS_TRY(const size_t axis, axisOf(s.in(2).count() == 1 ? elementAsInt(s.in(2), 0) : 0, in.size()));
        const int64_t count = repeats.empty() ? 1 : repeats[0];
        repeats.assign(in.size(), 1);
        repeats[axis] = count;
    }
    if (repeats.size() != in.size())
        return badInput(
            "it has " + std::to_string(repeats.size()) + " repeats for an input of rank " + std::to_string(in.size()));
    Shape out;
    for (size_t i = 0; i < in.size(); ++i) {
        const auto n = elementCount({ in[i], repeats[i] });
        if (!n)
            return badInput("a repeat is out of range");
        out.push_back(*n);
    }
    const Movable movable({ &s.in(0) });
    QS_TRY(Tensor y, allocateChecked(s, movable.dtype(), out));
    const auto from = rowMajorStrides(in), to = rowMajorStrides(out);
    StridedCopy copy;
    for (size_t i = 0; i < in.size(); ++i) {
        copy.shape.insert(copy.shape.end(), { repeats[i], in[i] });
        copy.from.insert(copy.from.end(), { 0, from[i] });
        copy.to.insert(copy.to.end(), { to[i] * in[i], to[i] });
    }
    copyStrided(mode, movable[0], 0, y, 0, copy);
    s.setOutput(0, movable.back(y));
    return {};
}

Status runOneHot(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    if (s.in(1).count() != 1 || s.in(2).count() != 2)
        return badInput("depth must be one number and values two");
    const Shape& in = s.in(0).shape();
    const auto whole
        = [](const Tensor& t, int64_t i) { return int64_t(clampOr(elementAsDouble(t, i), -0x1p62, 0x1p62)); };
    const int64_t depth = whole(s.in(1), 0);
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", -1), in.size() + 1));
    Shape shape = in;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    const Movable values({ &s.in(2) });
    QS_TRY(Tensor out, allocateChecked(s, values.dtype(), shape));
    const std::vector<int64_t> still(shape.size(), 0);
    copyStrided(KernelMode::Fast, values[0], 0, out, 0, { shape, still, rowMajorStrides(shape) });
    const int64_t inner = product(in, axis, in.size());
    const size_t bytes = values.elementBytes();
    for (int64_t i = 0; i < s.in(0).count(); ++i) {
        int64_t hot = whole(s.in(0), i);
        hot = hot < 0 ? hot + depth : hot;
        if (hot < 0 || hot >= depth)
            continue;
        const int64_t cell = (i / inner * depth + hot) * inner + i % inner;
        std::memcpy(writable(out) + static_cast<size_t>(cell) * bytes, values[0].bytes().data() + bytes, bytes);
    }
    s.setOutput(0, values.back(out));
    return {};
}

Status runTrilu(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& shape = s.in(0).shape();
    if (shape.size() < 2)
        return badInput("the input needs rank 2 or more");
    const int64_t k = s.input(1) && s.in(1).count() > 0 ? elementAsInt(s.in(1), 0) : 0;
    const bool upper = node.attributes.integer("upper", 1) != 0;
    const Movable movable({ &s.in(0) });
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape));
    const int64_t columns = shape.back(), rows = shape[shape.size() - 2];
    const size_t bytes = movable.elementBytes();
    std::memset(writable(out), 0, out.byteCount());
    for (int64_t r = 0; columns > 0 && r < s.in(0).count() / columns; ++r) {
        // Clamped before adding, so that extreme k cannot overflow.
        const int64_t diagonal = std::clamp<int64_t>(k, -rows - 1, columns + 1) + r % rows;
        const int64_t begin = upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
        const int64_t end = upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
        const auto at = static_cast<size_t>(r * columns + begin) * bytes;
        if (end > begin)
            std::memcpy(writable(out) + at, movable[0].bytes().data() + at, static_cast<size_t>(end - begin) * bytes);
    }
    s.setOutput(0, movable.back(out));
    return {};
}

} // namespace

void lowerShape(LoweringRegistry& r)
{
    r.add("", "Constant", lowerConstant);
    r.add("", "ConstantOfShape", copying<runConstantOfShape>);
    r.add("", "Shape", anyView<runShape>);
    r.add("", "Size", anyView<runSize>);
    r.add("", "Reshape", plainView<runReshape>);
    r.add("", "Flatten", plainView<runFlatten>);
    r.add("", "Squeeze", plainView<runSqueeze>);
    r.add("", "Unsqueeze", plainView<runUnsqueeze>);
    r.add("", "Identity", lowerIdentity);
    r.add("", "BitCast", plainView<runBitCast>);
    r.add("", "Dropout", anyView<runDropout>);
    r.add("", "Range", copying<runRange>);
    r.add("", "EyeLike", copying<runEyeLike>);
    r.add("", "NonZero", copying<runNonZero>);
    r.add("", "Expand", copying<runExpand>);
    r.add("", "Tile", copying<runTile>);
    r.add("", "OneHot", copying<runOneHot>);
    r.add("", "Trilu", copying<runTrilu>);
    r.add(kMicrosoftDomain, "Trilu", copying<runTrilu>);
}

} // namespace qs
