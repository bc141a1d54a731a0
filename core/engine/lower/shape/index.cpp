// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/shape/parts.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/ops/slice_range.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// The shape in memory order, and where logical axis `axis` is in it.
Shape memoryShape(const Tensor& t)
{
    Shape s = t.shape();
    if (t.layout() == Layout::ChannelsLast)
        std::rotate(s.begin() + 1, s.begin() + 2, s.end());
    return s;
}

size_t memoryAxis(const Tensor& t, size_t axis)
{
    if (t.layout() == Layout::Plain || axis == 0)
        return axis;
    return axis == 1 ? t.rank() - 1 : axis - 1;
}

Status checkConcat(const StepContext& s, size_t axis)
{
    for (size_t i = 1; i < s.inputCount(); ++i) {
        const Tensor &a = s.in(0), &b = s.in(i);
        bool fits = a.rank() == b.rank() && a.dtype() == b.dtype();
        for (size_t d = 0; fits && d < a.rank(); ++d)
            fits = d == axis || a.dim(d) == b.dim(d);
        if (!fits)
            return badInput("its inputs do not fit together: " + shapeText(a.shape()) + " "
                + std::string(dtypeName(a.dtype())) + " and " + shapeText(b.shape()) + " "
                + std::string(dtypeName(b.dtype())));
    }
    return {};
}

Status runConcat(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, std::max<size_t>(1, s.inputCount())));
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 1), s.in(0).rank()));
    QS_CHECK(checkConcat(s, axis));
    // Where all inputs are channels-last, so is the output.
    bool keepLayout = true;
    for (size_t i = 0; i < s.inputCount(); ++i)
        keepLayout = keepLayout && s.in(i).layout() == Layout::ChannelsLast;
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> sources;
    for (size_t i = 0; i < s.inputCount(); ++i)
        inputs.push_back(keepLayout ? s.in(i) : s.toLayout(s.in(i), Layout::Plain));
    for (const Tensor& t : inputs)
        sources.push_back(&t);
    const Movable movable(sources);
    Shape shape = s.in(0).shape();
    for (size_t i = 1; i < s.inputCount(); ++i)
        if (__builtin_add_overflow(shape[axis], s.in(i).dim(axis), &shape[axis]))
            return badInput("the sizes add up to too much");
    const Layout layout = keepLayout ? Layout::ChannelsLast : Layout::Plain;
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape, layout));
    const auto to = rowMajorStrides(memoryShape(out));
    int64_t at = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Shape part = memoryShape(inputs[i]);
        const size_t where = memoryAxis(inputs[i], axis);
        copyStrided(mode, movable[i], 0, out, at * to[where], { part, rowMajorStrides(part), to });
        at += part[where];
    }
    s.setOutput(0, movable.back(out));
    return {};
}

/// Part sizes of a Split: given, or as equal as ONNX asks (the last ones smaller).
Result<std::vector<int64_t>> splitSizes(const Node& node, const StepContext& s, int64_t whole)
{
    const auto count = static_cast<int64_t>(s.outputCount());
    if (auto given = listOf(node, s, "split", 1)) {
        int64_t sum = 0;
        for (int64_t n : *given)
            if (n < 0 || __builtin_add_overflow(sum, n, &sum))
                return badInput("a part size is out of range");
        if (sum != whole || static_cast<int64_t>(given->size()) != count)
            return badInput("its " + std::to_string(given->size()) + " part sizes do not add up to "
                + std::to_string(whole) + " over " + std::to_string(count) + " outputs");
        return std::move(*given);
    }
    const int64_t chunk = whole / count + (whole % count != 0);
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < count; ++i)
        sizes.push_back(std::clamp<int64_t>(whole - chunk * i, 0, chunk));
    return sizes;
}

Status runSplit(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 0), in.size()));
    QS_TRY(const auto sizes, splitSizes(node, s, in[axis]));
    const Movable movable({ &s.in(0) });
    const auto from = rowMajorStrides(in);
    int64_t at = 0;
    for (size_t i = 0; i < s.outputCount(); ++i) {
        Shape part = in;
        part[axis] = sizes[i];
        Tensor out = s.allocate(movable.dtype(), part);
        copyStrided(mode, movable[0], at * from[axis], out, 0, { part, from, rowMajorStrides(part) });
        s.setOutput(i, movable.back(out));
        at += sizes[i];
    }
    return {};
}

Status runSlice(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const auto starts = listOf(node, s, "starts", 1), ends = listOf(node, s, "ends", 2);
    if (!starts || !ends)
        return badInput("the starts or ends are missing");
    auto axes = listOf(node, s, "axes", 3);
    if (!axes) {
        axes.emplace();
        for (size_t i = 0; i < starts->size(); ++i)
            axes->push_back(static_cast<int64_t>(i));
    }
    const auto steps = listOf(node, s, "steps", 4).value_or(std::vector<int64_t>(starts->size(), 1));
    QS_TRY(const auto which, axesOf(*axes, in.size()));
    if (starts->size() != which.size() || ends->size() != which.size() || steps.size() != which.size())
        return badInput("starts, ends, axes and steps differ in length");
    Shape shape = in;
    auto from = rowMajorStrides(in);
    int64_t offset = 0;
    for (size_t i = 0; i < which.size(); ++i) {
        if (steps[i] == 0)
            return badInput("a step is 0");
        const size_t d = which[i];
        const SliceRange slice = sliceRange(in[d], (*starts)[i], (*ends)[i], steps[i]);
        shape[d] = slice.count;
        if (slice.count == 0)
            continue;
        offset += slice.start * from[d];
        from[d] = slice.count == 1 ? 0 : from[d] * slice.step;
    }
    const Movable movable({ &s.in(0) });
    Tensor out = s.allocate(movable.dtype(), shape);
    if (out.count() > 0)
        copyStrided(mode, movable[0], offset, out, 0, { shape, from, rowMajorStrides(shape) });
    s.setOutput(0, movable.back(out));
    return {};
}

Status runTranspose(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const std::vector<int64_t> perm = node.attributes.integers("perm");
    if (!perm.empty() && perm.size() != in.size())
        return badInput("its permutation has " + std::to_string(perm.size()) + " axes, the input has rank "
            + std::to_string(in.size()));
    QS_TRY(const auto axes, axesOf(perm, in.size()));
    const auto strides = rowMajorStrides(in);
    StridedCopy copy;
    for (size_t i = 0; i < in.size(); ++i) {
        const size_t a = perm.empty() ? in.size() - 1 - i : axes[i];
        copy.shape.push_back(in[a]);
        copy.from.push_back(strides[a]);
    }
    copy.to = rowMajorStrides(copy.shape);
    const Movable movable({ &s.in(0) });
    Tensor out = s.allocate(movable.dtype(), copy.shape);
    copyStrided(mode, movable[0], 0, out, 0, copy);
    s.setOutput(0, movable.back(out));
    return {};
}

/// Both block operators are a transpose over split axes.
Status copyBlocks(StepContext& s, KernelMode mode, const Shape& view, const std::vector<size_t>& perm, Shape shape)
{
    const auto strides = rowMajorStrides(view);
    StridedCopy copy;
    for (size_t a : perm) {
        copy.shape.push_back(view[a]);
        copy.from.push_back(strides[a]);
    }
    copy.to = rowMajorStrides(copy.shape);
    const Movable movable({ &s.in(0) });
    Tensor out = s.allocate(movable.dtype(), std::move(shape));
    copyStrided(mode, movable[0], 0, out, 0, copy);
    s.setOutput(0, movable.back(out));
    return {};
}

Status runDepthToSpace(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const int64_t b = node.attributes.integer("blocksize", 0);
    if (in.size() != 4 || b <= 0 || b > 1 << 20 || in[1] % (b * b) != 0)
        return badInput("blocks of " + std::to_string(b) + " do not fit an input of shape " + shapeText(in));
    const int64_t c = in[1] / (b * b);
    const Shape out = { in[0], c, in[2] * b, in[3] * b };
    if (node.attributes.text("mode", "DCR") == "CRD")
        return copyBlocks(s, mode, { in[0], c, b, b, in[2], in[3] }, { 0, 1, 4, 2, 5, 3 }, out);
    return copyBlocks(s, mode, { in[0], b, b, c, in[2], in[3] }, { 0, 3, 4, 1, 5, 2 }, out);
}

Status runSpaceToDepth(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const int64_t b = node.attributes.integer("blocksize", 0);
    if (in.size() != 4 || b <= 0 || b > 1 << 20 || in[2] % b != 0 || in[3] % b != 0)
        return badInput("blocks of " + std::to_string(b) + " do not fit an input of shape " + shapeText(in));
    const Shape view = { in[0], in[1], in[2] / b, b, in[3] / b, b };
    const Shape out = { in[0], in[1] * b * b, in[2] / b, in[3] / b };
    const bool channelsFirst = node.attributes.text("mode", "DCR") == "CRD";
    const std::vector<size_t> perm
        = channelsFirst ? std::vector<size_t> { 0, 1, 3, 5, 2, 4 } : std::vector<size_t> { 0, 3, 5, 1, 2, 4 };
    return copyBlocks(s, mode, view, perm, out);
}

constexpr int64_t kFarthestPad = int64_t(1) << 62;

Result<int64_t> paddedSize(const std::string& mode, int64_t size, int64_t before, int64_t after)
{
    int64_t total = 0;
    if (__builtin_add_overflow(size, before, &total) || __builtin_add_overflow(total, after, &total) || total < 0
        || before < -kFarthestPad)
        return badInput("its pads leave an impossible size");
    if (size == 0 && mode != "constant" && total > 0)
        return badInput("an empty axis has nothing to repeat");
    return total;
}

/// Source index of each of `total` output indices along one axis; -1 = padding.
std::vector<int64_t> paddedAxis(const std::string& mode, int64_t size, int64_t before, int64_t total)
{
    std::vector<int64_t> index;
    for (int64_t i = 0; i < total; ++i) {
        int64_t p = i - before;
        if (mode == "edge") {
            p = std::clamp<int64_t>(p, 0, size - 1);
        } else if (mode == "wrap") {
            p = (p % size + size) % size;
        } else if (mode == "reflect") {
            const int64_t period = std::max<int64_t>(1, 2 * (size - 1));
            p = (p % period + period) % period;
            p = p < size ? p : period - p;
        } else if (p < 0 || p >= size) {
            p = -1;
        }
        index.push_back(p);
    }
    return index;
}

Status runPad(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Shape& in = s.in(0).shape();
    const auto pads = listOf(node, s, node.attributes.has("paddings") ? "paddings" : "pads", 1);
    if (!pads)
        return badInput("the pads are missing");
    std::vector<size_t> which = allAxes(in.size());
    if (s.input(3)) {
        QS_TRY(which, axesOf(toInts(s.in(3)), in.size()));
    }
    if (pads->size() != 2 * which.size())
        return badInput(
            "it has " + std::to_string(pads->size()) + " pads for " + std::to_string(which.size()) + " axes");
    const std::string kind = node.attributes.text("mode", "constant");
    if (kind != "constant" && kind != "edge" && kind != "wrap" && kind != "reflect")
        return badInput("the mode '" + kind + "' is unknown");
    std::vector<int64_t> before(in.size(), 0), after(in.size(), 0);
    for (size_t i = 0; i < which.size(); ++i) {
        before[which[i]] = (*pads)[i];
        after[which[i]] = (*pads)[i + which.size()];
    }
    Shape shape;
    for (size_t d = 0; d < in.size(); ++d) {
        QS_TRY(const int64_t size, paddedSize(kind, in[d], before[d], after[d]));
        shape.push_back(size);
    }
    // Strings need the padding value among the strings; numbers take its bytes.
    const Tensor* value = s.input(2);
    Tensor given;
    if (!value && node.attributes.has("value") && s.in(0).dtype() == DType::Float32) {
        given = Tensor::scalar<float>(node.attributes.real("value", 0));
        value = &given;
    }
    const bool text
        = s.in(0).dtype() == DType::String && value && value->dtype() == DType::String && value->count() == 1;
    std::vector<const Tensor*> sources = { &s.in(0) };
    if (text)
        sources.push_back(value);
    const Movable movable(sources);
    const auto fill = text ? std::vector<std::byte>(movable[1].bytes().begin(), movable[1].bytes().end())
                           : movable.fillElement(value);
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape));
    if (out.count() > 0) {
        const auto strides = rowMajorStrides(in);
        AxisOffsets offsets;
        for (size_t d = 0; d < in.size(); ++d) {
            offsets.push_back(paddedAxis(kind, in[d], before[d], shape[d]));
            for (int64_t& p : offsets.back())
                p = p < 0 ? -1 : p * strides[d];
        }
        const auto kernel = mode == KernelMode::Reference ? tableCopyReference : tableCopy;
        kernel(movable[0].bytes().data(), writable(out), movable.elementBytes(), offsets, fill.data());
    }
    s.setOutput(0, movable.back(out));
    return {};
}

Status runReverseSequence(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Shape& in = s.in(0).shape();
    QS_TRY(const size_t time, axisOf(node.attributes.integer("time_axis", 0), in.size()));
    QS_TRY(const size_t batch, axisOf(node.attributes.integer("batch_axis", 1), in.size()));
    const auto lengths = toInts(s.in(1));
    if (time + batch != 1 || lengths.size() != static_cast<size_t>(in[batch]))
        return badInput("time and batch must be axes 0 and 1, with one length for each batch item");
    const Movable movable({ &s.in(0) });
    std::vector<int64_t> blocks;
    for (int64_t i = 0; i < in[0] * in[1]; ++i) {
        const int64_t t = time == 0 ? i / in[1] : i % in[1], b = time == 0 ? i % in[1] : i / in[1];
        const int64_t length = lengths[static_cast<size_t>(b)];
        if (length < 0 || length > in[time])
            return badInput("the length " + std::to_string(length) + " is longer than the time axis");
        const int64_t from = t < length ? length - 1 - t : t;
        blocks.push_back(time == 0 ? from * in[1] + b : b * in[1] + from);
    }
    Tensor out = s.allocate(movable.dtype(), in);
    const size_t bytes = static_cast<size_t>(product(in, 2, in.size())) * movable.elementBytes();
    gatherBlocks(movable[0].bytes().data(), writable(out), bytes, blocks);
    s.setOutput(0, movable.back(out));
    return {};
}

Status runCompress(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const bool flat = !node.attributes.has("axis");
    const Tensor x = flat ? s.in(0).reshaped({ s.in(0).count() }) : s.in(0);
    QS_TRY(const size_t axis, axisOf(flat ? 0 : node.attributes.integer("axis", 0), x.rank()));
    const auto condition = toInts(s.in(1));
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < std::min<int64_t>(x.dim(axis), static_cast<int64_t>(condition.size())); ++i)
        if (condition[static_cast<size_t>(i)] != 0)
            kept.push_back(i);
    Shape shape = x.shape();
    shape[axis] = static_cast<int64_t>(kept.size());
    const Movable movable({ &x });
    std::vector<int64_t> blocks;
    for (int64_t o = 0; o < product(shape, 0, axis); ++o)
        for (int64_t k : kept)
            blocks.push_back(o * x.dim(axis) + k);
    Tensor out = s.allocate(movable.dtype(), shape);
    const size_t bytes = static_cast<size_t>(product(shape, axis + 1, shape.size())) * movable.elementBytes();
    gatherBlocks(movable[0].bytes().data(), writable(out), bytes, blocks);
    s.setOutput(0, movable.back(out));
    return {};
}

} // namespace

void lowerIndex(LoweringRegistry& r)
{
    r.add("", "Concat", anyCopy<runConcat>);
    r.add("", "Split", copying<runSplit>);
    r.add("", "Slice", copying<runSlice>);
    r.add("", "Transpose", copying<runTranspose>);
    r.add("", "DepthToSpace", copying<runDepthToSpace>);
    r.add("", "SpaceToDepth", copying<runSpaceToDepth>);
    r.add("", "Pad", copying<runPad>);
    r.add("", "ReverseSequence", copying<runReverseSequence>);
    r.add("", "Compress", copying<runCompress>);
    lowerGather(r);
    lowerResize(r);
    lowerUnique(r);
}

} // namespace qs
