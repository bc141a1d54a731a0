// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// What ONNX Runtime's quantization tools put behind a value's name, for the nodes and values around its codes.
namespace qs::tails {

inline constexpr char kQuantize[] = "_QuantizeLinear"; ///< the node
inline constexpr char kQuantizeInput[] = "_QuantizeLinear_Input"; ///< the real value, where the graph has it as output
inline constexpr char kQuantizeOutput[] = "_QuantizeLinear_Output";
inline constexpr char kDequantize[] = "_DequantizeLinear"; ///< the node
inline constexpr char kDequantizeOutput[] = "_DequantizeLinear_Output";
inline constexpr char kCodes[] = "_quantized"; ///< of constants, and around operators on codes
inline constexpr char kSums[] = "_output_quantized"; ///< of the dynamic form
inline constexpr char kScale[] = "_scale";
inline constexpr char kZeroPoint[] = "_zero_point";

} // namespace qs::tails
