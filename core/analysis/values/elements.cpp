// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/values/elements.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Elements::Elements(const Tensor& values)
    : m_reals(toPlain(values))
    , m_shape(values.shape())
    , m_count(size_t(values.count()))
{
}

Elements::Elements(const Tensor& codes, QuantParams params, const Tensor& reals)
    : m_reals(reals.valid() ? toPlain(reals) : Tensor())
    , m_codes(toPlain(codes))
    , m_params(std::move(params))
    , m_shape(codes.shape())
    , m_count(size_t(codes.count()))
{
    findBlocks();
}

Elements Elements::ordered(Shape shape, Order order) const
{
    Elements other = *this;
    other.m_count = size_t(elementCount(shape).value_or(0));
    other.m_shape = std::move(shape);
    other.m_order = std::move(order);
    return other;
}

/// Scales lie over [outer, blocks, inner] in blocks, else over [channels].
void Elements::findBlocks()
{
    const auto axis = size_t(m_params.axis.value_or(-1));
    if (m_params.scale.size() < 2 || !m_params.axis || axis >= m_shape.size())
        return;
    for (size_t d = axis + 1; d < m_shape.size(); ++d)
        m_inner *= size_t(m_shape[d]);
    m_channels = size_t(m_shape[axis]);
    m_block = size_t(std::max<int64_t>(m_params.blockSize, 0));
    m_blocks = m_block > 0 ? (m_channels + m_block - 1) / m_block : 1;
}

DType Elements::dtype() const { return m_reals.valid() ? m_reals.dtype() : DType::Float32; }

size_t Elements::stored(size_t i) const
{
    if (m_order.places)
        return (*m_order.places)[i];
    if (m_order.exchangedRows == 0)
        return i;
    const auto rows = size_t(m_order.exchangedRows), columns = m_count / rows;
    return i % rows * columns + i / rows;
}

size_t Elements::scaleIndex(size_t i) const
{
    if (m_params.scale.size() < 2)
        return 0;
    const size_t at = stored(i), channel = at / m_inner % m_channels;
    const size_t scale
        = m_block == 0 ? channel : (at / m_inner / m_channels * m_blocks + channel / m_block) * m_inner + at % m_inner;
    return std::min(scale, m_params.scale.size() - 1);
}

double Elements::real(size_t i) const
{
    const auto at = int64_t(stored(i));
    if (m_reals.valid())
        return elementAsDouble(m_reals, at);
    const double code = elementAsDouble(m_codes, at);
    if (m_params.scale.empty())
        return code;
    const size_t s = scaleIndex(i);
    return double(static_cast<float>(code - m_params.zero(s)) * m_params.scale[s]);
}

int64_t Elements::integer(size_t i) const { return elementAsInt(m_reals, int64_t(stored(i))); }

int64_t Elements::code(size_t i) const { return elementAsInt(m_codes, int64_t(stored(i))); }

int Elements::atLimit(size_t i) const
{
    if (!hasCodes() || !codeRange(m_params.dtype)
        || dtypeBits(m_params.dtype) > 16) // sums of 32 bits have no limits to speak of
        return 0;
    const CodeRange range = m_params.codes();
    const int64_t q = code(i);
    return q <= range.low ? -1 : q >= range.high ? 1 : 0;
}

} // namespace qs
