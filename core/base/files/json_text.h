// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace qs {

/// How much a JSON text may hold. What is more is refused before it costs memory or, nested, stack: whatever was read
/// can be copied, written and walked by recursion.
struct JsonLimits {
    size_t bytes = size_t(512) << 20;
    size_t values = 8'000'000;
    size_t depth = 64;
};

/// Reads a JSON text that may come from anywhere. Keys keep their order. Issues (without file and remedy, which the
/// caller adds) end a sentence: no JSON and where, too long, too deep, too many values, a key said twice.
Result<nlohmann::ordered_json> readJson(std::string_view text, const JsonLimits& limits = {});

/// A whole number of at least 0; throws what nlohmann's get() throws for other kinds, which would give any number.
uint64_t naturalOf(const nlohmann::ordered_json& value);
/// The same of an entry of an object that may be absent.
uint64_t naturalAt(const nlohmann::ordered_json& object, const char* key, uint64_t absent = 0);
/// A whole number that fits; throws likewise.
int64_t wholeOf(const nlohmann::ordered_json& value);

} // namespace qs
