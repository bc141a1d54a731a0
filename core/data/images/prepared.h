// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/preprocess.h"

#include <vector>

/// Pictures as a network gets them, and what their channels hold.
namespace qs {

/// One picture in the shape `itemShape()`; the size must be given. An Issue without a file when it cannot be cut.
Result<Tensor> preparedPicture(const Preprocess& how, Picture picture);

/// Of all finite values of one channel.
struct ChannelStatistics {
    double mean = 0, deviation = 0, low = 0, high = 0;
};
/// Over tensors of three axes, or four with a batch; one entry a channel. Empty where there are no such tensors or no
/// finite values. Sums in double, one tensor after the other.
std::vector<ChannelStatistics> channelStatistics(const std::vector<Tensor>& pictures, bool channelsFirst);

/// What usual photographs give when they are prepared so (mean and deviation of ImageNet's pictures), with the smallest
/// and largest value that a pixel can become.
std::vector<ChannelStatistics> expectedStatistics(const Preprocess& how);

} // namespace qs
