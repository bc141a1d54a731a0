// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/layer_patches.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <random>

namespace qs {

namespace {

/// Ascending positions, one in each of equal parts.
std::vector<int64_t> choosePositions(int64_t all, size_t wanted, uint64_t seed)
{
    std::vector<int64_t> chosen;
    const auto count = static_cast<int64_t>(std::min(wanted, static_cast<size_t>(all)));
    std::mt19937_64 random(seed);
    for (int64_t k = 0; k < count; ++k) {
        const int64_t from = all * k / count, to = all * (k + 1) / count;
        chosen.push_back(from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from)));
    }
    return chosen;
}

int64_t product(std::span<const WindowAxis> axes, int64_t WindowAxis::*size)
{
    int64_t all = 1;
    for (const WindowAxis& axis : axes)
        all *= axis.*size;
    return all;
}

} // namespace

LayerPatches::LayerPatches(const LinearLayer& layer, const Node& node, Shape weight, size_t feeds, size_t rowsPerFeed)
    : m_layout(layer.layout)
    , m_node(&node)
    , m_conv(!layer.channelsLast)
    , m_weight(std::move(weight))
    , m_rowsPerFeed(rowsPerFeed)
    , m_rows(feeds)
{
}

uint64_t LayerPatches::bytes(const WeightLayout& layout, size_t rows)
{
    return sizeof(float) * rows * static_cast<uint64_t>(layout.inputs * layout.taps);
}

void LayerPatches::takeWindow(
    const float* image, std::span<const WindowAxis> axes, int64_t position, std::span<float> row) const
{
    const int64_t plane = product(axes, &WindowAxis::in);
    for (int64_t tap = 0; tap < m_layout.taps; ++tap) {
        int64_t at = 0, stride = 1, p = position, t = tap;
        bool inside = true;
        for (size_t a = axes.size(); a-- > 0;) {
            const WindowAxis& axis = axes[a];
            const int64_t x = p % axis.out * axis.stride + t % axis.kernel * axis.dilation - axis.padBegin;
            inside = inside && x >= 0 && x < axis.in;
            at += x * stride;
            stride *= axis.in;
            p /= axis.out;
            t /= axis.kernel;
        }
        for (int64_t c = 0; c < m_layout.inputs; ++c)
            row[size_t(c * m_layout.taps + tap)] = inside ? image[c * plane + at] : 0.0f;
    }
}

Status LayerPatches::take(const Tensor& input, size_t feed, uint64_t seed)
{
    const Tensor plain = toPlain(input);
    const bool fits = m_conv ? plain.rank() == m_weight.size() && plain.rank() > 2 && plain.dim(1) == m_layout.inputs
                             : m_layout.taps == 1 && m_layout.inputs > 0 && plain.count() % m_layout.inputs == 0;
    if (!fits || plain.dtype() != DType::Float32)
        return badInput("an input of shape " + shapeText(plain.shape()) + " does not fit the weight "
            + shapeText(m_weight) + " that is to be rounded");
    const auto x = plain.data<float>();
    const auto width = static_cast<size_t>(m_layout.inputs * m_layout.taps);
    const uint64_t own = seed * 0x9E3779B97F4A7C15u + feed;
    std::vector<float>& rows = m_rows[feed];
    if (!m_conv) {
        const auto positions = choosePositions(plain.count() / m_layout.inputs, m_rowsPerFeed, own);
        for (int64_t p : positions) {
            const auto row = x.subspan(static_cast<size_t>(p) * width, width);
            rows.insert(rows.end(), row.begin(), row.end());
        }
        return {};
    }
    QS_TRY(const WindowAttributes attributes, windowAttributes(*m_node));
    QS_TRY(const std::vector<WindowAxis> axes,
        windowAxes(*m_node, attributes, WindowKind::Conv, std::span(plain.shape()).subspan(2),
            std::span(m_weight).subspan(2)));
    const int64_t outputs = product(axes, &WindowAxis::out);
    const int64_t image = m_layout.inputs * product(axes, &WindowAxis::in);
    const auto positions = choosePositions(plain.dim(0) * outputs, m_rowsPerFeed, own);
    rows.resize(positions.size() * width);
    for (size_t r = 0; r < positions.size(); ++r)
        takeWindow(x.data() + positions[r] / outputs * image, axes, positions[r] % outputs,
            std::span(rows).subspan(r * width, width));
    return {};
}

std::vector<float> LayerPatches::rows(int64_t group) const
{
    const auto width = static_cast<size_t>(m_layout.inputs * m_layout.taps);
    const auto part = static_cast<size_t>(m_layout.rowSize());
    std::vector<float> out;
    for (const auto& rows : m_rows)
        for (size_t at = static_cast<size_t>(group) * part; at < rows.size(); at += width)
            out.insert(out.end(), rows.begin() + std::ptrdiff_t(at), rows.begin() + std::ptrdiff_t(at + part));
    return out;
}

} // namespace qs
