// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/registry/registry.h"

/// Parts of the text family, called by lowerText().
namespace qs {

void lowerTfIdf(LoweringRegistry&); ///< TfIdfVectorizer

} // namespace qs
