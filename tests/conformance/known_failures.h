// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace qs {

/// Test name -> reason, from tests/conformance/known.txt. (Results that are contested:
/// core/project/about/contested_tests.h.)
std::map<std::string, std::string> knownFailures();

} // namespace qs
