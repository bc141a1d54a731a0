// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"
#include "core/tensor/empty_shape.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

constexpr int64_t kLargestTensor = int64_t(1) << 40; ///< elements; more cannot be meant

} // namespace

Result<Tensor> allocateChecked(const StepContext& step, DType type, const Shape& shape, Layout layout)
{
    const auto count = elementCount(shape);
    if (!count || *count > kLargestTensor || isEndlessNothing(shape, kLongestNothing))
        return badInput("the output shape " + shapeText(shape) + " is impossible");
    return step.allocate(type, shape, layout);
}

Result<Tensor> allocateTexts(const StepContext& step, const Shape& shape)
{
    Shape bytes = shape;
    bytes.push_back(sizeof(std::string));
    return allocateChecked(step, DType::UInt8, bytes);
}

Movable::Movable(std::vector<const Tensor*> sources)
{
    m_type = sources.front()->dtype();
    if (m_type != DType::String) {
        for (const Tensor* t : sources)
            m_tensors.push_back(unpacked(*t));
        m_moved = m_tensors.front().dtype();
        return;
    }
    m_moved = DType::Int64;
    for (const Tensor* t : sources) {
        Tensor numbers = Tensor::allocate(DType::Int64, t->shape());
        for (int64_t& n : numbers.fill<int64_t>())
            n = static_cast<int64_t>(&n - numbers.fill<int64_t>().data()) + static_cast<int64_t>(m_pool.size());
        m_pool.insert(m_pool.end(), t->stringData().begin(), t->stringData().end());
        m_tensors.push_back(std::move(numbers));
    }
    m_pool.emplace_back();
}

size_t Movable::elementBytes() const { return dtypeBits(m_moved) / 8; }

Tensor Movable::back(const Tensor& moved) const
{
    if (m_type == m_moved)
        return moved;
    if (m_type != DType::String)
        return packedAs(moved, m_type);
    std::vector<std::string> values;
    for (int64_t n : moved.data<int64_t>())
        values.push_back(m_pool[static_cast<size_t>(n)]);
    return Tensor::strings(moved.shape(), std::move(values));
}

std::vector<std::byte> Movable::fillElement(const Tensor* scalar) const
{
    std::vector<std::byte> bytes(elementBytes(), std::byte {});
    if (m_type == DType::String) {
        const auto empty = static_cast<int64_t>(m_pool.size()) - 1;
        std::memcpy(bytes.data(), &empty, sizeof(empty));
    } else if (scalar && scalar->count() > 0 && scalar->dtype() == m_type) {
        const Tensor whole = unpacked(*scalar);
        std::memcpy(bytes.data(), whole.bytes().data(), bytes.size());
    }
    return bytes;
}

std::optional<std::vector<int64_t>> listOf(
    const Node& node, const StepContext& step, const std::string& name, size_t slot)
{
    if (node.attributes.has(name))
        return node.attributes.integers(name);
    if (const Tensor* t = step.input(slot))
        return toInts(*t);
    return std::nullopt;
}

Status needInputs(const StepContext& step, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!step.input(i))
            return badInput("input " + std::to_string(i) + " is missing");
    return {};
}

Result<size_t> axisOf(int64_t axis, size_t rank)
{
    if (const auto a = normalizedAxis(axis, rank))
        return *a;
    return badInput("axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(rank));
}

Result<std::vector<size_t>> axesOf(const std::vector<int64_t>& axes, size_t rank)
{
    std::vector<size_t> out;
    for (int64_t axis : axes) {
        QS_TRY(const size_t a, axisOf(axis, rank));
        if (std::find(out.begin(), out.end(), a) != out.end())
            return badInput("axis " + std::to_string(axis) + " is given twice");
        out.push_back(a);
    }
    return out;
}

std::vector<size_t> allAxes(size_t rank)
{
    std::vector<size_t> axes(rank);
    for (size_t i = 0; i < rank; ++i)
        axes[i] = i;
    return axes;
}

void copyStrided(
    KernelMode mode, const Tensor& from, int64_t fromOffset, Tensor& to, int64_t toOffset, const StridedCopy& copy)
{
    const size_t bytes = dtypeBits(from.dtype()) / 8;
    const auto kernel = mode == KernelMode::Reference ? stridedCopyReference : stridedCopy;
    kernel(from.bytes().data() + fromOffset * static_cast<int64_t>(bytes),
        writable(to) + toOffset * static_cast<int64_t>(bytes), bytes, copy);
}

} // namespace qs
