// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/quant/model/float_model.h"
#include "core/quant/recipe/recipe.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// Layers of the float model, by node and weight, whose channels have factors in the quantized file that the next of
/// them take away (cross-layer equalization): each fits the others as they are there, and no other form of them.
struct EqualizedChain {
    std::vector<std::string> nodes, weights;
};
std::vector<EqualizedChain> equalizedChains(
    const std::shared_ptr<const Model>& floatModel, const std::shared_ptr<const Model>& quantized);

/// `wanted`: of the recipe that was read from that file; `made`: what became of these. Issue: some layers of a chain
/// are as in the file, and others are not.
Status checkChains(const std::vector<EqualizedChain>& chains, const FileCodes& wanted, const CodeOrigins& made);

} // namespace qs
