// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"
#include "core/ops/slice_range.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

/// Operators that move, select and combine elements. Slices and gathers of small integer constants keep their values,
/// so that sizes computed from shapes are known.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

constexpr int64_t kMostListed = 64;

/// Elements of a list of integers, those that are not known as such; false where it is none or too long.
bool appendElements(const Fact& f, std::vector<KnownInt>& elements)
{
    if (!f.dims || f.dims->size() != 1 || !f.dims->front().known())
        return false;
    auto known = partlyKnownInts(&f);
    if (!known && f.dims->front().value <= kMostListed)
        known.emplace(static_cast<size_t>(f.dims->front().value));
    if (known)
        elements.insert(elements.end(), known->begin(), known->end());
    return known.has_value();
}

Result<Facts> inferConcat(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const DType type = c.inputs[0].dtype;
    std::optional<Dims> out;
    std::vector<KnownInt> elements;
    bool lists = type == DType::Int64 || type == DType::Int32, ranksKnown = true;
    for (const Fact& f : c.inputs)
        ranksKnown = ranksKnown && f.dims.has_value();
    if (!ranksKnown)
        return Facts { fact(type) };
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 1), c.inputs[0].dims->size()));
    for (const Fact& f : c.inputs) {
        lists = lists && appendElements(f, elements);
        if (!out) {
            out = f.dims;
            continue;
        }
        if (f.dims->size() != out->size())
            return inferIssue(c.node, "its inputs have different ranks");
        for (size_t i = 0; i < out->size(); ++i) {
            Dim& d = (*out)[i];
            const Dim& o = (*f.dims)[i];
            if (i == axis)
                d = sumOf(d, o);
            else if (d.known() && o.known() && d.value != o.value)
                return inferIssue(c.node,
                    "its inputs differ in axis " + std::to_string(i) + ": " + dimsText(*c.inputs[0].dims) + " and "
                        + dimsText(*f.dims));
            else if (!d.known() && o.known())
                d = o;
        }
    }
    return Facts { lists ? partlyKnownFact(std::move(elements), type) : fact(type, out) };
}

Result<Facts> inferSplit(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const size_t count = c.node.outputs.size();
    Facts out(count, fact(data.dtype));
    if (!data.dims)
        return out;
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), data.dims->size()));
    const ListArgument parts = listArgument(c, "split", 1);
    if (parts.values && parts.values->size() != count)
        return inferIssue(c.node,
            "it has " + std::to_string(count) + " outputs but " + std::to_string(parts.values->size()) + " part sizes");
    const Dim whole = (*data.dims)[axis];
    const auto n = static_cast<int64_t>(count);
    const int64_t chunk = whole.known() ? whole.value / n + (whole.value % n != 0) : 0;
    for (size_t i = 0; i < count; ++i) {
        Dims dims = *data.dims;
        dims[axis] = unknownDim();
        if (parts.values)
            dims[axis] = knownDim((*parts.values)[i]);
        else if (!parts.given && whole.known())
            dims[axis] = knownDim(std::clamp<int64_t>(whole.value - chunk * static_cast<int64_t>(i), 0, chunk));
        if (dims[axis].value < -1)
            return inferIssue(c.node, "a part size is negative");
        out[i].dims = std::move(dims);
    }
    return out;
}

Result<Facts> inferSlice(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const ListArgument starts = listArgument(c, "starts", 1), ends = listArgument(c, "ends", 2);
    ListArgument axes = listArgument(c, "axes", 3);
    const ListArgument steps = listArgument(c, "steps", 4);
    if (!starts.given || !ends.given)
        return inferIssue(c.node, "the starts or ends are missing");
    if (!data.dims)
        return Facts { fact(data.dtype) };
    const size_t rank = data.dims->size();
    if (!axes.given && starts.values) {
        axes.values.emplace();
        for (size_t i = 0; i < starts.values->size(); ++i)
            axes.values->push_back(static_cast<int64_t>(i));
    }
    if (!axes.values)
        return Facts { fact(data.dtype, Dims(rank)) };
    QS_TRY(const auto which, axesArgument(c.node, *axes.values, rank));
    Dims out = *data.dims;
    const bool known = starts.values && ends.values && (!steps.given || steps.values);
    if (known
        && (starts.values->size() != which.size() || ends.values->size() != which.size()
            || (steps.values && steps.values->size() != which.size())))
        return inferIssue(c.node, "starts, ends, axes and steps differ in length");
    for (size_t i = 0; i < which.size(); ++i) {
        Dim& d = out[which[i]];
        const int64_t size = d.value;
        const int64_t start = known ? (*starts.values)[i] : 0, end = known ? (*ends.values)[i] : 0;
        const int64_t step = known && steps.given ? (*steps.values)[i] : 1;
        if (step == 0)
            return inferIssue(c.node, "a step is 0");
        if (known && !d.known() && start == 0 && end >= INT32_MAX && step == 1)
            continue;
        d = known && size >= 0 ? knownDim(sliceRange(size, start, end, step).count) : unknownDim();
    }
    const auto ints = partlyKnownInts(&data);
    if (ints && rank == 1 && known && which.size() == 1 && (data.dtype == DType::Int64 || data.dtype == DType::Int32)) {
        const SliceRange r = sliceRange(static_cast<int64_t>(ints->size()), (*starts.values)[0], (*ends.values)[0],
            steps.given ? (*steps.values)[0] : 1);
        std::vector<KnownInt> picked;
        for (int64_t i = 0; i < r.count; ++i)
            picked.push_back((*ints)[static_cast<size_t>(r.start + i * r.step)]);
        return Facts { partlyKnownFact(std::move(picked), data.dtype) };
    }
    return Facts { fact(data.dtype, out) };
}

Result<Facts> inferGather(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact &data = *c.input(0), &indices = *c.input(1);
    if (!data.dims || !indices.dims)
        return Facts { fact(data.dtype) };
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), data.dims->size()));
    Dims out(data.dims->begin(), data.dims->begin() + static_cast<std::ptrdiff_t>(axis));
    out.insert(out.end(), indices.dims->begin(), indices.dims->end());
    out.insert(out.end(), data.dims->begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.dims->end());
    const auto values = partlyKnownInts(&data);
    const auto where = knownInts(&indices);
    if (values && where && data.dims->size() == 1 && indices.dims->size() <= 1
        && (data.dtype == DType::Int64 || data.dtype == DType::Int32)) {
        std::vector<KnownInt> picked;
        const auto size = static_cast<int64_t>(values->size());
        for (int64_t i : *where) {
            if (i < -size || i >= size)
                return inferIssue(
                    c.node, "index " + std::to_string(i) + " is outside an axis of size " + std::to_string(size));
            picked.push_back((*values)[static_cast<size_t>(i < 0 ? i + size : i)]);
        }
        return Facts { partlyKnownFact(std::move(picked), data.dtype, indices.dims->empty()) };
    }
    return Facts { fact(data.dtype, out) };
}

Result<Facts> inferGatherElements(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return Facts { fact(c.input(0)->dtype, c.input(1)->dims) };
}

Result<Facts> inferGatherND(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const auto &data = c.input(0)->dims, &indices = c.input(1)->dims;
    const DType type = c.input(0)->dtype;
    if (!data || !indices || indices->empty() || !indices->back().known())
        return Facts { fact(type) };
    const int64_t batch = c.node.attributes.integer("batch_dims", 0);
    const int64_t depth = indices->back().value;
    if (batch < 0 || depth > static_cast<int64_t>(data->size()) - batch)
        return inferIssue(c.node, "its indices go deeper than the rank of the data");
    Dims out(indices->begin(), indices->end() - 1);
    out.insert(out.end(), data->begin() + batch + depth, data->end());
    return Facts { fact(type, out) };
}

Result<Facts> inferTranspose(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    if (!data.dims)
        return Facts { fact(data.dtype) };
    const size_t rank = data.dims->size();
    const std::vector<int64_t> perm = c.node.attributes.integers("perm");
    if (!perm.empty() && perm.size() != rank)
        return inferIssue(c.node,
            "its permutation has " + std::to_string(perm.size()) + " axes, the input has rank " + std::to_string(rank));
    QS_TRY(const auto axes, axesArgument(c.node, perm, rank));
    Dims out;
    for (size_t i = 0; i < rank; ++i)
        out.push_back((*data.dims)[perm.empty() ? rank - 1 - i : axes[i]]);
    return Facts { fact(data.dtype, out) };
}

Result<Facts> inferPad(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const char* name = c.node.attributes.has("paddings") ? "paddings" : "pads";
    const ListArgument pads = listArgument(c, name, 1);
    if (!pads.given)
        return inferIssue(c.node, "the pads are missing");
    if (!data.dims)
        return Facts { fact(data.dtype) };
    const size_t rank = data.dims->size();
    Dims out(rank);
    ListArgument axes = listArgument(c, "axes", 3);
    if (!pads.values || (axes.given && !axes.values))
        return Facts { fact(data.dtype, out) };
    std::vector<size_t> which;
    for (size_t i = 0; i < rank; ++i)
        which.push_back(i);
    if (axes.given) {
        QS_TRY(which, axesArgument(c.node, *axes.values, rank));
    }
    if (pads.values->size() != 2 * which.size())
        return inferIssue(c.node,
            "it has " + std::to_string(pads.values->size()) + " pads for " + std::to_string(which.size()) + " axes");
    out = *data.dims;
    for (size_t i = 0; i < which.size(); ++i) {
        const int64_t before = (*pads.values)[i], after = (*pads.values)[i + which.size()];
        Dim& d = out[which[i]];
        int64_t size = d.value;
        if (!d.known()) {
            if (before != 0 || after != 0)
                d = unknownDim();
            continue;
        }
        if (__builtin_add_overflow(size, before, &size) || __builtin_add_overflow(size, after, &size) || size < 0)
            return inferIssue(c.node, "its pads leave an impossible size in axis " + std::to_string(which[i]));
        d = knownDim(size);
    }
    return Facts { fact(data.dtype, out) };
}

std::optional<std::vector<double>> knownReals(const Fact* f)
{
    if (!f || !f->value || f->value->count() > 64)
        return std::nullopt;
    return toDoubles(*f->value);
}

/// Dims of Resize and Upsample where the scales or sizes are constants.
Result<Facts> inferResize(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    if (!data.dims)
        return Facts { fact(data.dtype) };
    const size_t rank = data.dims->size();
    const bool old = c.node.opType == "Upsample" || c.node.opset < 11;
    const Fact* scaleInput = c.input(old ? 1 : 2);
    std::optional<std::vector<double>> scales = knownReals(scaleInput);
    if (c.node.attributes.has("scales")) {
        const auto reals = c.node.attributes.reals("scales");
        scales = std::vector<double>(reals.begin(), reals.end());
    } else if (c.node.attributes.has("height_scale")) {
        scales = { 1, 1, c.node.attributes.real("height_scale", 1), c.node.attributes.real("width_scale", 1) };
    }
    if (scales && scales->empty())
        scales.reset();
    const auto sizes = old ? std::nullopt : partlyKnownInts(c.input(3));
    std::vector<size_t> which;
    for (size_t i = 0; i < rank; ++i)
        which.push_back(i);
    if (c.node.attributes.has("axes")) {
        QS_TRY(which, axesArgument(c.node, c.node.attributes.integers("axes"), rank));
    }
    if (!scales && !sizes)
        return Facts { fact(data.dtype, Dims(rank)) };
    if ((scales ? scales->size() : sizes->size()) != which.size())
        return inferIssue(c.node, "it needs " + std::to_string(which.size()) + " scales or sizes");
    Dims out = *data.dims;
    const bool keepAspect = c.node.attributes.text("keep_aspect_ratio_policy", "stretch") != "stretch";
    for (size_t i = 0; i < which.size(); ++i) {
        Dim& d = out[which[i]];
        if (sizes)
            d = keepAspect ? unknownDim() : toDim((*sizes)[i]);
        else if (const double n = std::floor(static_cast<double>(d.value) * (*scales)[i]); (*scales)[i] != 1)
            d = d.known() && n >= 0 && n < 9e15 ? knownDim(static_cast<int64_t>(n)) : unknownDim();
        if (d.value < -1)
            return inferIssue(c.node, "a size is negative");
    }
    return Facts { fact(data.dtype, out) };
}

/// DepthToSpace and SpaceToDepth.
Result<Facts> inferBlocks(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const int64_t b = c.node.attributes.integer("blocksize", 0);
    if (b <= 0 || b > 1 << 20)
        return inferIssue(c.node, "the block size " + std::to_string(b) + " is impossible");
    if (!data.dims)
        return Facts { fact(data.dtype) };
    if (data.dims->size() != 4)
        return inferIssue(c.node, "the input needs rank 4");
    Dims out = *data.dims;
    const bool toSpace = c.node.opType == "DepthToSpace";
    for (size_t i = 1; i < 4; ++i) {
        const int64_t factor = i == 1 ? b * b : b;
        const bool multiply = (i == 1) != toSpace;
        if (!out[i].known())
            out[i] = unknownDim();
        else if (const auto product = elementCount({ out[i].value, factor }); multiply && product)
            out[i] = knownDim(*product);
        else if (out[i].value % factor != 0)
            return inferIssue(c.node,
                "axis " + std::to_string(i) + " of size " + std::to_string(out[i].value) + " cannot be divided by "
                    + std::to_string(factor));
        else
            out[i] = knownDim(out[i].value / factor);
    }
    return Facts { fact(data.dtype, out) };
}

Result<Facts> inferUnique(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    Facts out { fact(x.dtype, Dims(1)), fact(DType::Int64, Dims(1)), fact(DType::Int64, Dims(1)),
        fact(DType::Int64, Dims(1)) };
    if (!c.node.attributes.has("axis"))
        return out;
    out[0].dims = x.dims;
    if (x.dims) {
        QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), x.dims->size()));
        (*out[0].dims)[axis] = unknownDim();
        out[2].dims = Dims { (*x.dims)[axis] };
    }
    return out;
}

Result<Facts> inferTopK(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    if (!data.dims)
        return Facts { fact(data.dtype), fact(DType::Int64) };
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", -1), data.dims->size()));
    Dims out = *data.dims;
    std::optional<int64_t> k;
    if (c.node.attributes.has("k"))
        k = c.node.attributes.integer("k", 0);
    else if (const auto given = knownInts(c.input(1)); given && given->size() == 1)
        k = given->front();
    if (k && (*k < 0 || (out[axis].known() && *k > out[axis].value)))
        return inferIssue(
            c.node, "k is " + std::to_string(*k) + ", the axis has size " + std::to_string(out[axis].value));
    out[axis] = k ? knownDim(*k) : unknownDim();
    return Facts { fact(data.dtype, out), fact(DType::Int64, out) };
}

Result<Facts> inferCompress(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& data = *c.input(0);
    if (!c.node.attributes.has("axis"))
        return Facts { fact(data.dtype, Dims(1)) };
    if (!data.dims)
        return Facts { fact(data.dtype) };
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), data.dims->size()));
    Dims out = *data.dims;
    out[axis] = unknownDim();
    return Facts { fact(data.dtype, out) };
}

} // namespace

void registerIndexOps(OpRegistry& r)
{
    const auto add = [&](std::string_view type, InferFn infer, Tolerance tolerance = Tolerance::Exact) {
        r.add({ "", type, infer, tolerance });
    };
    add("Concat", inferConcat);
    add("Split", inferSplit);
    add("Slice", inferSlice);
    add("Gather", inferGather);
    add("GatherElements", inferGatherElements);
    add("GatherND", inferGatherND);
    add("ScatterElements", inferSame, Tolerance::Accumulation);
    add("ScatterND", inferSame, Tolerance::Accumulation);
    add("Scatter", inferSame);
    add("Transpose", inferTranspose);
    add("Pad", inferPad);
    add("Resize", inferResize, Tolerance::Accumulation);
    add("Upsample", inferResize, Tolerance::Accumulation);
    add("DepthToSpace", inferBlocks);
    add("SpaceToDepth", inferBlocks);
    add("ReverseSequence", inferSame);
    add("TopK", inferTopK);
    add("Unique", inferUnique);
    add("Compress", inferCompress);
}

} // namespace qs
