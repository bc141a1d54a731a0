// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/recipe/recipe.h"

#include <string>

namespace qs {

struct BuilderOptions {
    std::string text; ///< JSON
    std::string unsaid; ///< one sentence: what of the recipe its options do not say; empty: they say all
};

/// A weight-only recipe in the options of onnxruntime-genai's model builder, which makes such models from their source:
/// `extra_options` as written behind KEY= on its command line, with the names that all its versions know, and
/// `target_options` (0.18 and later), whose overrides name single nodes. `prepared`: a model that the builder wrote, so
/// that its nodes are called as there. Issues: another format, those of the recipe.
Result<BuilderOptions> builderOptions(const GraphDraft& prepared, const Recipe& recipe);

} // namespace qs
