// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/preview.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr int kCurveShare = 2; ///< a curve is that many times as wide as high
constexpr int64_t kLeastSide = 5; ///< of images, which tells them from rows of features

/// Numbers in channels, rows and columns, by strides.
struct Grid {
    int64_t channels = 1, rows = 1, columns = 1;
    int64_t channelStep = 0, rowStep = 0, columnStep = 1;
};

Grid gridOf(Shape shape)
{
    while (shape.size() > 1 && shape.front() == 1)
        shape.erase(shape.begin());
    const size_t rank = shape.size();
    if (rank < 2)
        return { 1, 1, rank == 1 ? shape[0] : 1, 0, 0, 1 };
    if (rank == 3 && shape[0] == 3 && shape[1] >= kLeastSide && shape[2] >= kLeastSide)
        return { 3, shape[1], shape[2], shape[1] * shape[2], shape[2], 1 };
    if (rank == 3 && (shape[2] == 1 || shape[2] == 3) && shape[0] >= kLeastSide && shape[1] >= kLeastSide)
        return { shape[2], shape[0], shape[1], 1, shape[1] * shape[2], shape[2] };
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < rank; ++d)
        rows *= shape[d];
    return { 1, rows, shape[rank - 1], 0, shape[rank - 1], 1 };
}

class Preview {
public:
    Preview(const float* values, size_t count, const Grid& grid, int most)
        : m_values(values)
        , m_grid(grid)
        , m_most(most)
    {
        m_low = std::numeric_limits<float>::infinity();
        m_high = -m_low;
        for (size_t i = 0; i < count; ++i)
            if (std::isfinite(values[i])) {
                m_low = std::min(m_low, values[i]);
                m_high = std::max(m_high, values[i]);
            }
    }
    Picture make() const
    {
        if (!(m_low <= m_high))
            return {};
        return m_grid.rows == 1 && m_grid.columns > 1 ? curve() : image();
    }

private:
    uint8_t brightness(double value) const
    {
        const double width = double(m_high) - m_low;
        return width > 0 ? uint8_t(std::lround(255 * std::clamp((value - m_low) / width, 0.0, 1.0))) : 128;
    }

    /// Each pixel is the mean of what it covers.
    Picture image() const
    {
        const int64_t longest = std::max(m_grid.rows, m_grid.columns), most = m_most;
        const auto sideOf
            = [&](int64_t size) { return int(longest > most ? std::max<int64_t>(1, size * most / longest) : size); };
        Picture picture { sideOf(m_grid.columns), sideOf(m_grid.rows), m_grid.channels == 3 ? 3 : 1, {} };
        for (int64_t y = 0; y < picture.height; ++y)
            for (int64_t x = 0; x < picture.width; ++x)
                for (int64_t c = 0; c < picture.channels; ++c)
                    picture.pixels.push_back(
                        brightness(mean(c, y * m_grid.rows / picture.height, (y + 1) * m_grid.rows / picture.height,
                            x * m_grid.columns / picture.width, (x + 1) * m_grid.columns / picture.width)));
        return picture;
    }

    double mean(int64_t channel, int64_t top, int64_t bottom, int64_t left, int64_t right) const
    {
        double sum = 0, count = 0;
        for (int64_t r = top; r < bottom; ++r)
            for (int64_t c = left; c < right; ++c) {
                const float v = m_values[channel * m_grid.channelStep + r * m_grid.rowStep + c * m_grid.columnStep];
                if (std::isfinite(v)) {
                    sum += v;
                    ++count;
                }
            }
        return count > 0 ? sum / count : double(m_low);
    }

    /// From the smallest to the largest value of each column.
    Picture curve() const
    {
        const int width = int(std::min<int64_t>(m_grid.columns, m_most)), height = std::max(1, m_most / kCurveShare);
        Picture picture { width, height, 1, std::vector<uint8_t>(size_t(width) * size_t(height), 0) };
        for (int64_t x = 0; x < width; ++x) {
            int top = height - 1, bottom = 0;
            for (int64_t i = x * m_grid.columns / width; i < (x + 1) * m_grid.columns / width; ++i)
                if (std::isfinite(m_values[i])) {
                    const int at = (height - 1) * (255 - brightness(m_values[i])) / 255;
                    top = std::min(top, at);
                    bottom = std::max(bottom, at);
                }
            for (int y = top; y <= bottom; ++y)
                picture.pixels[size_t(y) * size_t(width) + size_t(x)] = 255;
        }
        return picture;
    }

    const float* m_values;
    Grid m_grid;
    int m_most;
    float m_low = 0, m_high = 0;
};

} // namespace

Picture inputPreview(const Tensor& input, size_t index, size_t samples, int most)
{
    if (!input.valid() || input.dtype() == DType::String || input.count() == 0)
        return {};
    const std::vector<float> values = toFloats(input);
    Shape shape = input.shape();
    size_t begin = 0, count = values.size();
    if (samples > 1 && count % samples == 0) {
        count /= samples;
        begin = std::min(index, samples - 1) * count;
        if (!shape.empty() && shape[0] % int64_t(samples) == 0)
            shape[0] /= int64_t(samples);
    }
    const Grid grid = gridOf(shape);
    if (uint64_t(grid.channels) * uint64_t(grid.rows) * uint64_t(grid.columns) > count)
        return {};
    return Preview(values.data() + begin, count, grid, most).make();
}

} // namespace qs
