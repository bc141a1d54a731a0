// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// Operator domains by their names in files; the domain of ONNX itself is "".
inline constexpr const char* kMicrosoftDomain = "com.microsoft";
/// Images and filters in blocks of channels, as ONNX Runtime keeps them on one CPU.
inline constexpr const char* kNchwcDomain = "com.microsoft.nchwc";
inline constexpr const char* kMlDomain = "ai.onnx.ml";
inline constexpr const char* kPreviewDomain = "ai.onnx.preview";
inline constexpr const char* kTrainingDomain = "ai.onnx.preview.training";

} // namespace qs
