// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/provenance.h"
#include "core/project/quantize/quantization.h"

namespace qs {

/// What a comparison may know of a model that was quantized here with the samples `calibration`; judged over `judged`.
/// Either may be null: none.
Provenance provenanceOf(
    const Quantization& made, const std::shared_ptr<const DataSource>& calibration, const DataSource* judged);

} // namespace qs
