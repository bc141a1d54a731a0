// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Which output of the comparison scores the tokens of a text, the first of several; an Issue where none does.
Result<size_t> languageOutput(const Snapshot& snapshot);
/// The same of models that guess the next token, so that they can go on with their own: an Issue for others, too.
Result<size_t> decoderOutput(const Snapshot& snapshot);

} // namespace qs
