// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/provenance.h"
#include "core/project/quantize/quantization.h"

namespace qs {

/// Activations whose ranges follow from what was seen in samples: those that are quantized and to which the recipe
/// gives no range or scale. Those that share the range of another are not listed.
std::vector<std::string> rangesFromSamples(const Quantization& made);

/// What a comparison may know of a model that was quantized here with the samples `calibration`; judged over `judged`.
/// Either may be null: none.
Provenance provenanceOf(
    const Quantization& made, const std::shared_ptr<const DataSource>& calibration, const DataSource* judged);

} // namespace qs
