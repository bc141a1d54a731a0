// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/build_context.h"

namespace qs {

/// What a recipe makes of the float model, and the model that it is.
struct QuantizedModel {
    std::shared_ptr<const Quantization> quantization;
    LoadedModel model;
};
Result<QuantizedModel> quantizedModel(const QuantizationKey& key, const BuildContext& context);

} // namespace qs
