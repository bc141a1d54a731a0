// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/cache_rows.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

Issue otherAxes(const CachePlace& place, const Tensor& tensor)
{
    Issue issue = badInput("has shape " + shapeText(tensor.shape()) + ", not that of keys or values", {},
        "leave the cache out of the model's outputs, or name the right ones with --carry");
    issue.tensor = place.name;
    return issue;
}

/// Where prompts, heads, rows and channels are; heads -1 where there is but one. Nothing where the axes do not fit.
std::optional<std::array<int, 4>> axesOf(const CacheLayout& layout, size_t rank)
{
    using Form = CacheLayout::Form;
    if (layout.form == Form::Joined)
        return rank == 5 ? std::optional(std::array<int, 4> { 1, 2, 3, 4 }) : std::nullopt;
    if (layout.form == Form::Rows)
        return rank == 3 ? std::optional(std::array<int, 4> { 0, 2, 1, 2 }) : std::nullopt;
    if (rank != 3 && rank != 4)
        return std::nullopt;
    if (!layout.tokenAxis && rank == 4)
        return layout.axes;
    const int64_t axis = layout.tokenAxis.value_or(1) + (layout.tokenAxis.value_or(1) < 0 ? int64_t(rank) : 0);
    if (axis < 1 || axis >= int64_t(rank))
        return std::nullopt;
    std::vector<int> others; // heads, then channels
    for (int i = 1; i < int(rank); ++i)
        if (i != axis)
            others.push_back(i);
    return std::array<int, 4> { 0, rank == 4 ? others[0] : -1, int(axis), others.back() };
}

} // namespace

Result<CacheRows> CacheRows::of(const CachePlace& place, const Tensor& tensor, const Tensor& mask)
{
    const auto axes = axesOf(place.layout, tensor.rank());
    const bool packed = place.layout.form == CacheLayout::Form::Rows;
    if (!axes || !isFloat(tensor.dtype()) || (packed && tensor.dim(2) % place.layout.rowHeads != 0)
        || (place.layout.form == CacheLayout::Form::Joined && tensor.dim(0) != 2))
        return otherAxes(place, tensor);
    CacheRows rows;
    rows.m_values = toFloats(tensor);
    rows.lay(place.layout, tensor.shape(), *axes);
    rows.findCounted(mask, place.kind == CacheKind::KeyBeforeRotary);
    return rows;
}

void CacheRows::lay(const CacheLayout& layout, const Shape& shape, const std::array<int, 4>& axes)
{
    std::vector<size_t> strides(shape.size(), 1);
    for (size_t i = shape.size() - 1; i > 0; --i)
        strides[i - 1] = strides[i] * size_t(shape[i]);
    const auto size
        = [&](int which) { return axes[size_t(which)] < 0 ? 1 : size_t(shape[size_t(axes[size_t(which)])]); };
    const auto stride = [&](int which) { return axes[size_t(which)] < 0 ? 0 : strides[size_t(axes[size_t(which)])]; };
    m_prompts = size(0), m_heads = size(1), m_rows = size(2), m_channels = size(3);
    m_strides = { stride(0), stride(1), stride(2), stride(3) };
    if (layout.form == CacheLayout::Form::Joined)
        m_begin = size_t(layout.part) * strides[0];
    if (layout.form != CacheLayout::Form::Rows)
        return;
    m_channels /= size_t(layout.rowHeads);
    m_heads = size_t(layout.heads);
    m_strides[1] = m_channels;
    m_begin = size_t(layout.firstHead) * m_channels;
}

void CacheRows::findCounted(const Tensor& mask, bool fresh)
{
    const bool masked = mask.valid() && mask.rank() == 2 && mask.dim(0) == int64_t(m_prompts);
    const size_t total = masked ? size_t(mask.dim(1)) : 0;
    if (fresh && total >= m_rows)
        m_first = total - m_rows;
    const bool told = masked && (fresh ? total >= m_rows : total <= m_rows);
    const std::vector<int64_t> seen = told ? toInts(mask) : std::vector<int64_t>();
    for (size_t b = 0; b < m_prompts; ++b)
        for (size_t r = 0; r < m_rows; ++r)
            m_counted.push_back(told ? m_first + r < total && seen[b * total + m_first + r] != 0 : isFilled(b, r));
}

bool CacheRows::isFilled(size_t prompt, size_t row) const
{
    for (size_t h = 0; h < m_heads; ++h)
        for (size_t d = 0; d < m_channels; ++d)
            if (m_values[m_begin + prompt * m_strides[0] + h * m_strides[1] + row * m_strides[2] + d * m_strides[3]]
                != 0)
                return true;
    return false;
}

void CacheRows::each(const Take& take) const
{
    std::vector<float> row(m_channels);
    for (size_t b = 0; b < m_prompts; ++b)
        for (size_t r = 0; r < m_rows; ++r) {
            if (!m_counted[b * m_rows + r])
                continue;
            for (size_t h = 0; h < m_heads; ++h) {
                const float* from = m_values.data() + m_begin + b * m_strides[0] + h * m_strides[1] + r * m_strides[2];
                for (size_t d = 0; d < m_channels; ++d)
                    row[d] = from[d * m_strides[3]];
                take(b, h, m_first + r, row);
            }
        }
}

} // namespace qs
