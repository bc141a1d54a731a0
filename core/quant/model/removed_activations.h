// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/tensor/quant_params.h"

namespace qs {

/// What a Relu or Clip lets pass; nothing of other nodes, and where its bounds are computed.
std::optional<CutBounds> cutBounds(const FloatModel& model, const DraftNode& node);

/// The range of what a chosen Relu or Clip makes ends at its bounds. No value lies beyond, so nothing is lost, steps
/// become finer, and the quantizer can take the node's place. What a recipe says of single tensors stays as it is.
void clampToActivations(FloatModel& model);
/// editRanges(), with Recipe::exactActivations after clampToActivations().
void editRangesFor(FloatModel& model, const Recipe& recipe);

/// Remembers that the node was left out although its quantizer does not do its work. `params`: of the quantizer;
/// without scales: nothing is cut. Values that were not seen beyond the bounds are not told of.
void noteLost(FloatModel& model, const DraftNode& node, const CutBounds& bounds, const QuantParams& params);
/// One warning of them all.
void warnOfLost(FloatModel& model);

} // namespace qs
