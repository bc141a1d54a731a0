// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/shape/parts.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/reduce/top_k.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

Issue outside(int64_t index, int64_t size)
{
    return badInput("index " + std::to_string(index) + " is outside an axis of size " + std::to_string(size));
}

/// Index in 0..size-1 for one in -size..size-1; -1 when outside.
int64_t wrapped(int64_t index, int64_t size)
{
    if (index < -size || index >= size)
        return -1;
    return index < 0 ? index + size : index;
}

Status runGather(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Shape& in = s.in(0).shape();
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 0), in.size()));
    std::vector<int64_t> indices = toInts(s.in(1));
    for (int64_t& i : indices) {
        const int64_t w = wrapped(i, in[axis]);
        if (w < 0)
            return outside(i, in[axis]);
        i = w;
    }
    Shape shape(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), s.in(1).shape().begin(), s.in(1).shape().end());
    shape.insert(shape.end(), in.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.end());
    const Movable movable({ &s.in(0) });
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), shape));
    const size_t block = static_cast<size_t>(product(in, axis + 1, in.size())) * movable.elementBytes();
    const size_t slab = static_cast<size_t>(in[axis]) * block;
    for (size_t o = 0; o < static_cast<size_t>(product(in, 0, axis)); ++o)
        gatherBlocks(movable[0].bytes().data() + o * slab, writable(out) + o * indices.size() * block, block, indices);
    s.setOutput(0, movable.back(out));
    return {};
}

/// For each element of `indices` (row-major) the element of `data` that it names along `axis`.
Result<std::vector<int64_t>> elementCells(const Shape& data, const Tensor& indices, size_t axis)
{
    const Shape& shape = indices.shape();
    bool fits = shape.size() == data.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
        fits = d == axis || shape[d] <= data[d];
    if (!fits)
        return badInput("indices of shape " + shapeText(shape) + " do not fit data of shape " + shapeText(data));
    const auto strides = rowMajorStrides(data);
    std::vector<int64_t> cells = toInts(indices), index(shape.size(), 0);
    int64_t base = 0; // of the axes other than `axis`
    for (int64_t& cell : cells) {
        const int64_t w = wrapped(cell, data[axis]);
        if (w < 0)
            return outside(cell, data[axis]);
        cell = base + w * strides[axis];
        for (size_t d = shape.size(); d-- > 0;) {
            const int64_t step = d == axis ? 0 : strides[d];
            base += step;
            if (++index[d] < shape[d])
                break;
            base -= step * shape[d];
            index[d] = 0;
        }
    }
    return cells;
}

Status runGatherElements(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 0), s.in(0).rank()));
    QS_TRY(const auto cells, elementCells(s.in(0).shape(), s.in(1), axis));
    const Movable movable({ &s.in(0) });
    Tensor out = s.allocate(movable.dtype(), s.in(1).shape());
    gatherBlocks(movable[0].bytes().data(), writable(out), movable.elementBytes(), cells);
    s.setOutput(0, movable.back(out));
    return {};
}

/// Blocks that index tuples name: axes `batch` .. of the data are indexed, what is behind them is one block.
struct NdBlocks {
    std::vector<int64_t> blocks;
    int64_t blockElements = 1;
    Shape shape; ///< of the gathered tensor
};

Result<NdBlocks> ndBlocks(const StepContext& s, size_t batch)
{
    const Shape& data = s.in(0).shape();
    const Tensor& indices = s.in(1);
    const Shape& shape = indices.shape();
    const auto depth = shape.empty() ? -1 : shape.back();
    bool fits = depth >= 0 && batch < shape.size() && batch + static_cast<size_t>(depth) <= data.size();
    for (size_t d = 0; fits && d < batch; ++d)
        fits = shape[d] == data[d];
    if (!fits)
        return badInput("indices of shape " + shapeText(shape) + " do not fit data of shape " + shapeText(data));
    const size_t end = batch + static_cast<size_t>(depth);
    NdBlocks out;
    out.blockElements = product(data, end, data.size());
    out.shape.assign(shape.begin(), shape.end() - 1);
    out.shape.insert(out.shape.end(), data.begin() + static_cast<std::ptrdiff_t>(end), data.end());
    const auto values = toInts(indices);
    const int64_t tuples = product(shape, 0, shape.size() - 1);
    QS_TRY(const Tensor room, allocateChecked(s, DType::Int64, { tuples })); // beside the pool, yet within its limit
    const int64_t perBatch = product(shape, batch, shape.size() - 1);
    for (int64_t t = 0; t < tuples; ++t) {
        int64_t block = t / perBatch;
        for (size_t d = 0; d < static_cast<size_t>(depth); ++d) {
            const int64_t index = values[static_cast<size_t>(t * depth) + d];
            const int64_t w = wrapped(index, data[batch + d]);
            if (w < 0)
                return outside(index, data[batch + d]);
            block = block * data[batch + d] + w;
        }
        out.blocks.push_back(block);
    }
    return out;
}

Status runGatherND(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const int64_t batch = node.attributes.integer("batch_dims", 0);
    if (batch < 0)
        return badInput("batch_dims is negative");
    QS_TRY(const NdBlocks nd, ndBlocks(s, static_cast<size_t>(batch)));
    const Movable movable({ &s.in(0) });
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), nd.shape));
    const size_t bytes = static_cast<size_t>(nd.blockElements) * movable.elementBytes();
    gatherBlocks(movable[0].bytes().data(), writable(out), bytes, nd.blocks);
    s.setOutput(0, movable.back(out));
    return {};
}

Result<ScatterReduction> reductionOf(const std::string& name)
{
    if (name == "add")
        return ScatterReduction::Add;
    if (name == "mul")
        return ScatterReduction::Mul;
    if (name == "min")
        return ScatterReduction::Min;
    if (name == "max")
        return ScatterReduction::Max;
    return badInput("the reduction '" + name + "' is unknown");
}

/// A sum of texts joins them; smaller is what comes first by bytes.
bool scatterTexts(std::span<const std::string> updates, std::vector<std::string>& out, size_t blockElements,
    std::span<const int64_t> blocks, ScatterReduction reduction)
{
    if (reduction == ScatterReduction::Mul)
        return false;
    for (size_t i = 0; i < updates.size(); ++i) {
        std::string& to = out[static_cast<size_t>(blocks[i / blockElements]) * blockElements + i % blockElements];
        if (reduction == ScatterReduction::Add)
            to += updates[i];
        else
            to = reduction == ScatterReduction::Min ? std::min(to, updates[i]) : std::max(to, updates[i]);
    }
    return true;
}

Status scatter(const Node& node, StepContext& s, const std::vector<int64_t>& blocks, int64_t blockElements)
{
    const Tensor &data = s.in(0), &updates = s.in(2);
    const std::string reduction = node.attributes.text("reduction", "none");
    if (updates.dtype() != data.dtype() || updates.count() != static_cast<int64_t>(blocks.size()) * blockElements)
        return badInput("updates of shape " + shapeText(updates.shape()) + " do not fit their indices");
    const Movable movable({ &data, &updates });
    Tensor out = s.allocate(movable.dtype(), data.shape());
    if (out.byteCount() > 0)
        std::memcpy(writable(out), movable[0].bytes().data(), out.byteCount());
    if (reduction == "none") {
        scatterBlocks(movable[1].bytes().data(), writable(out),
            static_cast<size_t>(blockElements) * movable.elementBytes(), blocks);
        s.setOutput(0, movable.back(out));
        return {};
    }
    QS_TRY(const ScatterReduction kind, reductionOf(reduction));
    if (data.dtype() == DType::String) {
        std::vector<std::string> texts = data.stringData();
        if (!scatterTexts(updates.stringData(), texts, static_cast<size_t>(blockElements), blocks, kind))
            return badInput("texts cannot be multiplied");
        s.setOutput(0, Tensor::strings(data.shape(), std::move(texts)));
        return {};
    }
    if (movable.dtype() != data.dtype()
        || !scatterReduce(
            data.dtype(), movable[1].bytes().data(), writable(out), static_cast<size_t>(blockElements), blocks, kind))
        return badInput("elements of type " + std::string(dtypeName(data.dtype())) + " cannot be reduced");
    s.setOutput(0, out);
    return {};
}

Status runScatterElements(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", 0), s.in(0).rank()));
    QS_TRY(const auto cells, elementCells(s.in(0).shape(), s.in(1), axis));
    return scatter(node, s, cells, 1);
}

Status runScatterND(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    QS_TRY(const NdBlocks nd, ndBlocks(s, 0));
    return scatter(node, s, nd.blocks, nd.blockElements);
}

Status runTopK(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Tensor& x = s.in(0);
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", -1), x.rank()));
    const auto given = node.attributes.has("k") ? std::vector<int64_t> { node.attributes.integer("k", 0) }
        : s.input(1)                            ? toInts(s.in(1))
                                                : std::vector<int64_t> {};
    if (given.size() != 1 || given[0] < 0 || given[0] > x.dim(axis))
        return badInput("k does not fit an axis of size " + std::to_string(x.dim(axis)));
    Shape shape = x.shape();
    shape[axis] = given[0];
    const TopK top { product(shape, 0, axis), x.dim(axis), product(shape, axis + 1, shape.size()), given[0],
        node.attributes.integer("largest", 1) != 0 };
    Tensor indices = s.allocate(DType::Int64, shape);
    const auto kernel = mode == KernelMode::Reference ? topKIndicesReference : topKIndices;
    if (!kernel(x.dtype(), x.bytes().data(), top, indices.fill<int64_t>().data()))
        return badInput("elements of type " + std::string(dtypeName(x.dtype())) + " have no order");
    const Movable movable({ &x });
    Tensor values = s.allocate(movable.dtype(), shape);
    std::vector<int64_t> cells(static_cast<size_t>(indices.count()));
    for (size_t i = 0; i < cells.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t outer = at / (top.inner * top.k), inner = at % top.inner;
        cells[i] = (outer * top.size + indices.data<int64_t>()[i]) * top.inner + inner;
    }
    gatherBlocks(movable[0].bytes().data(), writable(values), movable.elementBytes(), cells);
    s.setOutput(0, movable.back(values));
    if (s.outputCount() > 1)
        s.setOutput(1, std::move(indices));
    return {};
}

} // namespace

void lowerGather(LoweringRegistry& r)
{
    r.add("", "Gather", copying<runGather>);
    r.add("", "GatherElements", copying<runGatherElements>);
    r.add("", "GatherND", copying<runGatherND>);
    r.add("", "ScatterElements", copying<runScatterElements>);
    r.add("", "Scatter", copying<runScatterElements>);
    r.add("", "ScatterND", copying<runScatterND>);
    r.add("", "TopK", copying<runTopK>);
}

} // namespace qs
