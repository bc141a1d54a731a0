// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/code_product.h"
#include "core/kernels/codes/dot_depthwise.h"
#include "core/kernels/codes/integer_conv.h"

#include <memory>
#include <optional>

namespace qs {

/// Weights of a convolution of codes, packed for this CPU; shared by everything that runs it.
struct CodeConvWeights {
    int64_t inChannels = 1, outChannels = 1, groups = 1;
    PackedConvWeights pairs; ///< empty where dots are used
    std::vector<DotMatrix> dots; ///< one a group
    std::optional<DotDepthwise> dotDepthwise;
    bool useDots() const { return !dots.empty() || dotDepthwise; }
    bool depthwise() const { return dotDepthwise || !pairs.depthwise.empty(); }
};
/// w [M, C / groups, kernel]; of `conv` only channels, groups and kernel matter.
CodeConvWeights packCodeConv(
    const IntegerConv& conv, Codes w, std::span<const int32_t> wZero, CodeProducts products = CodeProducts::Best);

/// A convolution of channels-last codes with everything prepared that does not depend on them.
class CodeConv {
public:
    /// An empty multiplier: sums only.
    CodeConv(std::shared_ptr<const CodeConvWeights> weights, bool xSigned, int32_t xZero, const Requantization& q);
    CodeConv(const CodeConv&) = delete;
    CodeConv& operator=(const CodeConv&) = delete;
    /// Bytes of scratch memory that the calls below need, 64-byte aligned.
    int64_t scratchBytes(const IntegerConv& conv) const;
    /// Codes of output positions first..first+count-1 of one image: [position][M].
    void codes(const IntegerConv& conv, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch,
        uint8_t* out) const;
    /// Their sums, without the bias.
    void sums(const IntegerConv& conv, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch,
        int32_t* out) const;

private:
    template <class Out>
    void depthwiseLines(const IntegerConv& conv, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch,
        Out* out) const;
    template <class Done>
    void forEachTile(const IntegerConv& conv, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch,
        int64_t mostRows, Done done) const;
    std::shared_ptr<const CodeConvWeights> m_weights;
    Codes m_x; ///< type of the input
    int32_t m_xZero;
    std::vector<float> m_multiplier;
    std::vector<int32_t> m_bias;
    Requantization m_requantization; ///< refers to the two above
    bool m_narrow = false; ///< requantization inside the dot kernels
    std::vector<LineVector<int32_t>> m_sumStart; ///< by group, for dots
    std::vector<DotEpilogue> m_epilogues; ///< by group, for dots
    DotEpilogue m_depthwise, m_depthwiseSums;
};

} // namespace qs
