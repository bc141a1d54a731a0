// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// UTF-8 names of which none is longer than `widest` code points: in longer ones "..." stands for a run of whole parts
/// (between '/', or '.' and ':'), chosen so that names that differ still do, with as much kept as possible. Where no
/// run does that, the middle is cut. 0 = no limit; at least 8 otherwise.
std::vector<std::string> distinctNames(const std::vector<std::string>& names, size_t widest);

/// The file names of paths, with as many folders before all as make them differ: "fp32/model.onnx" and
/// "int4/model.onnx". The same path twice is the same name twice; an empty path stays empty.
std::vector<std::string> distinctFileNames(const std::vector<std::string>& paths);
std::pair<std::string, std::string> distinctFileNames(const std::string& a, const std::string& b);

} // namespace qs
