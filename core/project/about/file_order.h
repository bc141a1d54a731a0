// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

class Graph;

/// Has operators that quantize, or that compute with codes.
bool isQuantized(const Graph& graph);

/// The float model's file is quantized, and the quantized model's is not. Reads both; false where one cannot be read.
bool swappedFiles(const std::string& floatPath, const std::string& quantPath);

} // namespace qs
