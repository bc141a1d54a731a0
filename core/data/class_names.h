// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What classes are called, by number; "" where one has no name.
using ClassNames = std::vector<std::string>;

/// The name of a class, or its number where it has none; below 0 it is none.
std::string className(const ClassNames& names, int64_t number);

/// One name a line, a JSON list of names, or a JSON or Python dictionary from numbers to names (of a list, as in
/// {"0": ["n01440764", "tench"]}, the last one). Empty where it is none of these.
ClassNames parseClassNames(std::string_view text);
/// Issues: unreadable, not text, no names.
Result<ClassNames> readClassNames(const std::string& path);
/// Of a model's metadata: the keys names, class_names, classes, class_labels and labels. Empty where there are none.
ClassNames classNamesIn(const std::map<std::string, std::string>& metadata);

} // namespace qs
