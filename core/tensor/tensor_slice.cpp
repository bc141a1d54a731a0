// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/tensor_slice.h"

#include <algorithm>
#include <charconv>

namespace qs {

namespace {

std::string_view trimmed(std::string_view text)
{
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    for (size_t begin = 0;;) {
        const size_t end = text.find(at, begin);
        parts.push_back(trimmed(text.substr(begin, end == std::string_view::npos ? end : end - begin)));
        if (end == std::string_view::npos)
            return parts;
        begin = end + 1;
    }
}

std::optional<int64_t> wholeNumber(std::string_view text)
{
    if (text.starts_with('+'))
        text.remove_prefix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

Issue wrongAxis(size_t axis, const std::string& why, const std::string& remedy)
{
    return badUse("axis " + std::to_string(axis) + ": " + why, remedy);
}

/// Python's rules for begin:end:step on an axis of `size` (PySlice_AdjustIndices).
AxisSlice cutRange(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step, int64_t size)
{
    step = std::clamp(step, -size - 1, size + 1); // longer ones reach the same elements
    const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
    const auto cut = [&](std::optional<int64_t> at, int64_t missing) {
        if (!at)
            return missing;
        return std::clamp(*at < 0 ? *at + size : *at, lowest, highest);
    };
    const int64_t first = cut(begin, step > 0 ? lowest : highest), last = cut(end, step > 0 ? highest : lowest);
    const int64_t length = step > 0 ? last - first : first - last, stride = step > 0 ? step : -step;
    const int64_t count = length <= 0 ? 0 : (length - 1) / stride + 1;
    return { count > 0 ? first : 0, count, step, false };
}

Result<AxisSlice> parseAxis(std::string_view text, size_t axis, int64_t size)
{
    if (text.empty())
        return wrongAxis(axis, "there is nothing between the commas", "give an index, or : for all");
    const auto parts = split(text, ':');
    if (parts.size() > 3)
        return wrongAxis(axis, "'" + std::string(text) + "' has too many colons", "give begin:end:step");
    std::vector<std::optional<int64_t>> numbers;
    for (const std::string_view part : parts) {
        numbers.push_back(part.empty() ? std::nullopt : wholeNumber(part));
        if (!part.empty() && !numbers.back())
            return wrongAxis(
                axis, "'" + std::string(part) + "' is no whole number", "give an index, or begin:end:step");
    }
    if (parts.size() > 1) {
        const int64_t step = parts.size() > 2 ? numbers[2].value_or(1) : 1;
        if (step == 0 || step == INT64_MIN)
            return wrongAxis(axis, "the step is 0", "give a step that goes on");
        return cutRange(numbers[0], numbers[1], step, size);
    }
    const int64_t index = *numbers[0] < 0 ? *numbers[0] + size : *numbers[0];
    if (size == 0)
        return wrongAxis(axis, "it has no elements", "give : for it");
    if (index < 0 || index >= size)
        return wrongAxis(axis, std::string(text) + " is outside of 0.." + std::to_string(size - 1),
            "give an index of this axis, negative ones count from its end");
    return AxisSlice { index, 1, 1, true };
}

} // namespace

TensorSlice TensorSlice::whole(const Shape& shape)
{
    TensorSlice slice;
    for (const int64_t size : shape)
        slice.axes.push_back({ 0, size, 1, false });
    return slice;
}

size_t TensorSlice::count() const
{
    size_t count = 1;
    for (const AxisSlice& axis : axes)
        count *= size_t(axis.count);
    return count;
}

Shape TensorSlice::shape() const
{
    Shape shape;
    for (const size_t axis : ranges())
        shape.push_back(axes[axis].count);
    return shape;
}

std::vector<size_t> TensorSlice::ranges() const
{
    std::vector<size_t> list;
    for (size_t i = 0; i < axes.size(); ++i)
        if (!axes[i].fixed)
            list.push_back(i);
    return list;
}

Result<TensorSlice> parseSlice(std::string_view text, const Shape& shape)
{
    text = trimmed(text);
    if (text.starts_with('[') && text.ends_with(']'))
        text = trimmed(text.substr(1, text.size() - 2));
    auto parts = text.empty() ? std::vector<std::string_view>() : split(text, ',');
    if (!parts.empty() && parts.back().empty())
        parts.pop_back(); // "0," as in Python
    const auto dots = std::ranges::find(parts, "...");
    const bool open = dots != parts.end();
    if (open && std::find(dots + 1, parts.end(), "...") != parts.end())
        return badUse("'...' stands twice", "give it once");
    const size_t given = parts.size() - size_t(open);
    if (given > shape.size())
        return badUse("there are " + std::to_string(given) + " indices for " + std::to_string(shape.size()) + " axes",
            "give one an axis");
    const auto before = size_t(dots - parts.begin());
    if (open)
        parts.erase(dots);
    parts.insert(parts.begin() + ptrdiff_t(before), shape.size() - given, ":");
    TensorSlice slice;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        QS_TRY(const AxisSlice one, parseAxis(parts[axis], axis, shape[axis]));
        slice.axes.push_back(one);
    }
    return slice;
}

std::string sliceText(const TensorSlice& slice, const Shape& shape)
{
    std::string text;
    for (size_t i = 0; i < slice.axes.size(); ++i) {
        const AxisSlice& axis = slice.axes[i];
        if (i > 0)
            text += ", ";
        if (axis.fixed) {
            text += std::to_string(axis.first);
            continue;
        }
        const int64_t start = axis.step > 0 ? 0 : shape[i] - 1, end = axis.first + axis.count * axis.step;
        const bool toEnd = axis.count > 0 && (axis.step > 0 ? end >= shape[i] : end < 0);
        if (shape[i] > 0 && (axis.first != start || axis.count == 0))
            text += std::to_string(axis.first);
        text += ':';
        if (!toEnd && shape[i] > 0)
            text += std::to_string(axis.count == 0 ? axis.first : end);
        if (axis.step != 1)
            text += ':' + std::to_string(axis.step);
    }
    return text;
}

SliceGrid::SliceGrid(const TensorSlice& slice, const Shape& shape, std::optional<size_t> across)
    : m_slice(slice)
    , m_shape(shape)
    , m_across(across)
    , m_rows(1)
    , m_columns(1)
{
    const auto strides = rowMajorStrides(shape);
    for (size_t i = 0; i < slice.axes.size(); ++i) {
        const AxisSlice& axis = slice.axes[i];
        m_base += axis.first * strides[i];
        if (axis.fixed)
            continue;
        if (across == i) {
            m_acrossAxis = { axis, strides[i] };
            m_columns = size_t(axis.count);
            m_columnStep = axis.step * strides[i];
        } else {
            m_down.push_back({ axis, strides[i] });
            m_rows *= size_t(axis.count);
        }
    }
}

SliceGrid SliceGrid::inOrder(const TensorSlice& slice, const Shape& shape)
{
    const auto ranges = slice.ranges();
    return { slice, shape, ranges.empty() ? std::nullopt : std::optional(ranges.back()) };
}

size_t SliceGrid::rowBegin(size_t row) const
{
    int64_t element = m_base;
    for (size_t i = m_down.size(); i-- > 0;) {
        const auto count = size_t(m_down[i].slice.count);
        element += int64_t(row % count) * m_down[i].slice.step * m_down[i].stride;
        row /= count;
    }
    return size_t(element);
}

std::optional<size_t> SliceGrid::positionOf(size_t element) const
{
    const auto indices = indicesOf(element, m_shape);
    size_t row = 0, column = 0;
    for (size_t i = 0; i < m_slice.axes.size(); ++i) {
        const AxisSlice& axis = m_slice.axes[i];
        const int64_t from = indices[i] - axis.first;
        if (from % axis.step != 0 || from / axis.step < 0 || from / axis.step >= axis.count)
            return std::nullopt;
        if (axis.fixed)
            continue;
        if (m_across == i)
            column = size_t(from / axis.step);
        else
            row = row * size_t(axis.count) + size_t(from / axis.step);
    }
    return row * m_columns + column;
}

std::vector<int64_t> SliceGrid::rowIndices(size_t row) const
{
    std::vector<int64_t> indices(m_down.size());
    for (size_t i = m_down.size(); i-- > 0;) {
        const AxisSlice& axis = m_down[i].slice;
        indices[i] = axis.first + int64_t(row % size_t(axis.count)) * axis.step;
        row /= size_t(axis.count);
    }
    return indices;
}

int64_t SliceGrid::columnIndex(size_t column) const
{
    return m_acrossAxis ? m_acrossAxis->slice.first + int64_t(column) * m_acrossAxis->slice.step : 0;
}

std::vector<int64_t> indicesOf(size_t element, const Shape& shape)
{
    std::vector<int64_t> indices(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
        const auto size = size_t(std::max<int64_t>(shape[i], 1));
        indices[i] = int64_t(element % size);
        element /= size;
    }
    return indices;
}

} // namespace qs
