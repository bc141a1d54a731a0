// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

enum class LetterCase { Lower, Upper };
/// The letters of a UTF-8 text in one case, by the simple mapping of Unicode; what is no UTF-8 is kept.
std::string inCase(const std::string& text, LetterCase wanted);

} // namespace qs
