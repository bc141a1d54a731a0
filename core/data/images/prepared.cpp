// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/prepared.h"

#include "core/data/images/presets.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr double kHighestPixel = 255;

/// Sums of one channel.
struct Sums {
    double count = 0, sum = 0, squares = 0;
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void add(double value)
    {
        if (!std::isfinite(value))
            return;
        ++count;
        sum += value;
        squares += value * value;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    ChannelStatistics result() const
    {
        const double mean = sum / count;
        return { mean, std::sqrt(std::max(0.0, squares / count - mean * mean)), low, high };
    }
};

} // namespace

Result<Tensor> preparedPicture(const Preprocess& how, Picture picture)
{
    Tensor tensor = Tensor::allocate(how.dtype, how.itemShape());
    auto* bytes = reinterpret_cast<std::byte*>(tensor.fill<uint8_t>().data());
    QS_CHECK(applyPreprocess(how, std::move(picture), bytes));
    return tensor;
}

std::vector<ChannelStatistics> channelStatistics(const std::vector<Tensor>& pictures, bool channelsFirst)
{
    std::vector<Sums> sums;
    for (const Tensor& picture : pictures) {
        const Shape& shape = picture.shape();
        if ((shape.size() != 3 && shape.size() != 4) || picture.count() == 0)
            continue;
        const size_t first = shape.size() - 3;
        const auto channels = size_t(shape[channelsFirst ? first : first + 2]);
        const size_t plane = size_t(shape[first + 1]) * size_t(shape[first + 2]);
        sums.resize(std::max(sums.size(), channels));
        const std::vector<float> values = toFloats(picture);
        for (size_t i = 0; i < values.size(); ++i)
            sums[channelsFirst ? i / plane % channels : i % channels].add(double(values[i]));
    }
    std::vector<ChannelStatistics> result;
    for (const Sums& channel : sums) {
        if (channel.count == 0)
            return {};
        result.push_back(channel.result());
    }
    return result;
}

std::vector<ChannelStatistics> expectedStatistics(const Preprocess& how)
{
    // ImageNet's mean and deviation, in pixels.
    Preprocess usual = presetPreprocess("imagenet");
    usual = withColor(std::move(usual), how.color);
    std::vector<ChannelStatistics> result;
    for (size_t c = 0; c < size_t(how.channels()); ++c) {
        const bool bytes = how.dtype == DType::UInt8;
        const double scale = bytes ? 1 : how.scale, mean = bytes ? 0 : how.mean[c],
                     deviation = bytes ? 1 : how.deviation[c];
        const auto of = [&](double pixel) { return (pixel * scale - mean) / deviation; };
        const double darkest = of(0), lightest = of(kHighestPixel);
        result.push_back(
            { of(usual.mean[c] * kHighestPixel), std::abs(usual.deviation[c] * kHighestPixel * scale / deviation),
                std::min(darkest, lightest), std::max(darkest, lightest) });
    }
    return result;
}

} // namespace qs
