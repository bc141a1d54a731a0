// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"

#include <string>
#include <vector>

namespace qs {

/// Asks for all of these changes and names each: "Make 2 changes together; each alone gains less, since the other
/// causes hide it: equalize the ranges of weights across layers; quantize a, b to 8 bits per channel." `hidden`: so it
/// is, no change alone gains much of it.
std::string remedySentence(const std::vector<Remedy>& changes, bool hidden = true);
/// One or several of them, as a part of a sentence: "leave a, b in float".
std::string remedyPhrase(const std::vector<Remedy>& changes);

} // namespace qs
