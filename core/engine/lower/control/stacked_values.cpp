// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/control/stacked_values.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

Shape stackedShape(int64_t rows, const Shape& one)
{
    Shape shape { rows };
    shape.insert(shape.end(), one.begin(), one.end());
    return shape;
}

} // namespace

Status StackedValues::add(const StepContext& step, const Tensor& value)
{
    if (isContainer(value.dtype()))
        return badInput("a scan output is a " + std::string(dtypeName(value.dtype())) + ", which cannot be stacked");
    const Tensor one = unpacked(step.toLayout(value, Layout::Plain));
    if (m_count == 0) {
        m_type = value.dtype();
        m_shape = value.shape();
    } else if (value.dtype() != m_type || value.shape() != m_shape) {
        return badInput("a scan output changes from " + std::string(dtypeName(m_type)) + " " + shapeText(m_shape)
            + " to " + std::string(dtypeName(value.dtype())) + " " + shapeText(value.shape()) + " between iterations");
    }
    if (m_type == DType::String) {
        m_strings.insert(m_strings.end(), one.stringData().begin(), one.stringData().end());
    } else {
        const size_t bytes = one.byteCount();
        if (!m_rows.valid() || m_rows.dim(0) == m_count) {
            Tensor more = step.allocate(one.dtype(), stackedShape(std::max<int64_t>(4, m_count * 2), m_shape));
            if (m_rows.valid())
                std::memcpy(more.fill<std::byte>().data(), m_rows.bytes().data(), bytes * size_t(m_count));
            m_rows = std::move(more);
        }
        if (bytes > 0)
            std::memcpy(m_rows.fill<std::byte>().data() + bytes * size_t(m_count), one.bytes().data(), bytes);
    }
    ++m_count;
    return {};
}

Result<Tensor> StackedValues::take(const StepContext& step, const Fact& ifNone)
{
    if (m_count == 0) {
        if (ifNone.dtype == DType::Undefined || isContainer(ifNone.dtype))
            return badInput("no iteration ran and the type of a scan output is not known");
        Shape shape { 0 };
        for (const Dim& d : ifNone.dims.value_or(Dims {}))
            shape.push_back(d.known() ? d.value : 0);
        return step.allocate(ifNone.dtype, shape);
    }
    const Shape shape = stackedShape(m_count, m_shape);
    if (m_type == DType::String)
        return Tensor::strings(shape, std::move(m_strings));
    Tensor out = step.allocate(m_rows.dtype(), shape);
    if (out.byteCount() > 0)
        std::memcpy(out.fill<std::byte>().data(), m_rows.bytes().data(), out.byteCount());
    m_rows = Tensor();
    return out.dtype() == m_type ? out : packedAs(out, m_type);
}

} // namespace qs
