// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/contested_tests.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::string_view kResize = "it takes the output length before rounding (2.4, 3.2); the standard says the "
                                     "length of the resized tensor (2, 3), and ONNX Runtime and PyTorch take that";
constexpr std::string_view kNoise
    = "where the exact result is 0 it holds the rounding noise of a transform in float32, "
      "more than the tolerance; ours is computed in double";

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kContested { {
    { "test_cast_FLOAT_to_BFLOAT16", "it truncates (ONNX before 1.13); the standard rounds to the nearest" },
    { "test_dft_inverse", kNoise },
    { "test_dft_inverse_opset19", kNoise },
    { "test_resize_downsample_scales_cubic_align_corners", kResize },
    { "test_resize_downsample_scales_linear_align_corners", kResize },
} };

} // namespace

std::string_view contestedReason(std::string_view testName)
{
    for (const auto& [name, reason] : kContested)
        if (name == testName)
            return reason;
    return {};
}

} // namespace qs
