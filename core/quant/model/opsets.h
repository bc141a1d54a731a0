// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// Domain of all QuantizeLinear and DequantizeLinear: ai.onnx ("") where its version knows all types of the recipe.
std::string pairDomain(const GraphDraft& draft, const Recipe& recipe);

/// The version of ai.onnx that ONNX Runtime would raise the model to before quantizing it; nullopt: as it is.
std::optional<int64_t> raisedOpset(const GraphDraft& draft, const Recipe& recipe);

/// The version from which on Q/DQ pairs take scales along an axis, and float16 ones.
constexpr int64_t kOpsetOfAxes = 13, kOpsetOfHalfScales = 19;

/// The version of ai.onnx; 0 where the model imports none.
int64_t opsetOf(const GraphDraft& draft);

/// The version from which on ONNX Runtime loads the pairs that this recipe makes of the model; nullopt: as it is.
std::optional<int64_t> opsetThatLoads(const GraphDraft& draft, const Recipe& recipe);

/// Rewrites the draft for a later version of ai.onnx. Issue: a node whose meaning changes in a way that is not
/// handled.
Status raiseOpset(GraphDraft& draft, int64_t version);

} // namespace qs
