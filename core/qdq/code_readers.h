// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/qdq/quant_view.h"

#include <vector>

namespace qs {

/// The Clip that stands right before whoever reads the codes; not valid where there is none.
NodeId clipOfCodes(const Graph& graph, const Quantizer& quantizer);

/// A node that takes the codes of an activation for other numbers than whoever wrote them.
struct OddReader {
    NodeId node; ///< DequantizeLinear or an operator on codes
    uint32_t quantizer = 0; ///< of what it reads, with the writer's parameters: index in the QuantView
    QuantParams read; ///< the reader's scale and zero point; the writer's scale where it says a zero point alone
    bool zeroAlone = false; ///< no scale is compared: ConvInteger, MatMulInteger, behind which it is multiplied in
    bool computed = false; ///< the writer has one for each sample, the reader one zero point: `read` has no scale
};

/// Readers whose constant scale or zero point is another than that of the codes they read, in node order, by the
/// constants alone. Equal numbers in another tensor are equal. Only scales per tensor are told. A constant zero point
/// beside DynamicQuantizeLinear may be what that computes, too: the data tell.
std::vector<OddReader> oddReaders(const Graph& graph, const ConstantLookup& constants, const QuantView& view);

/// Steps of the writer by which a code may be misread, at most; both have one scale.
double stepsOff(const QuantParams& written, const QuantParams& read);

/// A constant in floats whose reader takes its codes for other numbers than QuantizeLinear made them of.
struct OddConstant {
    NodeId reader; ///< the first DequantizeLinear
    uint32_t quantizer = 0; ///< with the reader's parameters: index in the QuantView
    QuantParams written; ///< what QuantizeLinear says
    bool otherAxis = false; ///< the scales lie along another axis, or are not as many
    size_t channel = 0; ///< else: whose numbers are furthest apart
    size_t differing = 0; ///< so many of them are other ones
};

/// The parameters of one channel; of one scale for all, these.
QuantParams ofChannel(const QuantParams& p, size_t channel);

/// In the order of the quantizers, by the constants alone. Equal numbers in another tensor are equal.
std::vector<OddConstant> oddConstants(const Graph& graph, const ConstantLookup& constants, const QuantView& view);

/// A node that takes codes which a step of a loop gets back for other numbers than the step before wrote them for.
struct OddReturn {
    NodeId reader; ///< DequantizeLinear or an operator on codes
    uint32_t quantizer = 0; ///< the writer: index in the QuantView
    QuantParams written, read; ///< of the one channel that is furthest off
    size_t channel = 0, channels = 1; ///< that one, and how many have a scale of their own
};

/// Those that read `input`, which `output` becomes, by constants alone; also where nodes between only move codes.
std::vector<OddReturn> oddReturns(
    const Graph& graph, const ConstantLookup& constants, const QuantView& view, ValueId output, ValueId input);

} // namespace qs
