// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fuzz/targets/fuzz_target.h"

#include <cstdint>

namespace qs::test {

/// Another input for a target, made of one: equal for an equal seed. Half of the models stay models that parse, half of
/// the texts keep their brackets.
std::string changedInput(const FuzzTarget& target, const std::string& bytes, uint64_t seed);

/// Operators that have a kernel, which a node may become.
const std::vector<std::string>& operatorTypes();

} // namespace qs::test
