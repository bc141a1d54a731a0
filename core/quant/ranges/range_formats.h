// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/ranges/ranges.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// One function pair a format, for range_files.
namespace qs {

Result<Ranges> rangesFromJson(std::string_view text, const std::string& path);
std::string rangesToJson(const Ranges& ranges);

/// A table of names and texts (flatbuffers tables TrtTable and KeyValue).
using TextPairs = std::vector<std::pair<std::string, std::string>>;
Result<TextPairs> readFlatTable(std::string_view bytes, const std::string& path);
std::string writeFlatTable(const TextPairs& pairs);

/// As Python prints a float.
std::string pythonFloat(double value);

} // namespace qs
