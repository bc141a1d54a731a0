// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/ranges/ranges.h"

#include <string>
#include <string_view>

namespace qs {

/// Files that hold ranges for other programs.
enum class RangeFormat {
    Json, ///< ONNX Runtime's calibration cache (calibration_cache_path of quantize_static), or its calibration.json
    FlatBuffers, ///< calibration.flatbuffers, which ONNX Runtime's TensorRT provider reads
    Text, ///< calibration.cache: a name and a number each line
};

/// By the end of the file's name: .flatbuffers, .cache; all others are JSON.
RangeFormat rangeFormatOf(std::string_view path);
std::string_view rangeFormatText(RangeFormat format); ///< "calibration table (text)"

/// Any of the formats, found by content; also a table of TensorRT's own calibrators. Tables know one number a tensor,
/// which is taken for the range from -number to number. The ranges are of float32 tensors but where the file says
/// otherwise.
Result<Ranges> readRanges(const std::string& path);
Result<Ranges> parseRanges(std::string_view bytes, const std::string& path);

/// Tables hold the upper end alone, as ONNX Runtime 1.31 writes them. An Issue when a name cannot be written in the
/// format (a line break in a text table).
Result<std::string> formatRanges(const Ranges& ranges, RangeFormat format);

} // namespace qs
