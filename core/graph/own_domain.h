// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// Domain of operators that no file holds: what a comparison needs beside a network.
inline constexpr const char* kOwnDomain = "quantscope";
/// Keys or values that an attention stores as codes, and their scale, to floats; attribute `bits`.
inline constexpr const char* kDequantizeCache = "DequantizeCache";

} // namespace qs
