// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/quantized_model.h"

#include "core/project/quantize/quantize_model.h"

namespace qs {

Result<QuantizedModel> quantizedModel(const QuantizationKey& key, const BuildContext& context)
{
    context.report("quantize");
    QuantizeInputs inputs;
    inputs.model = key.calibrated.floatModel.model;
    inputs.recipe = key.recipe;
    inputs.data = key.calibrated.data;
    inputs.rangesPath = key.rangesPath;
    inputs.calibrationCache = key.calibrationCache;
    inputs.othersFollow = context.settings.activationCache > 0; // kept for the next runs as well
    inputs.carry = key.calibrated.carry;
    inputs.earlier = context.caches.quantization;
    QS_TRY(Quantization made, quantizeModel(inputs, context.work));
    QS_TRY(const auto model, made.draft.build());
    auto named = std::make_shared<Model>(*model); // people should not read it as the file
    named->path = inputs.model->path + " by recipe";
    LoadedModel loaded = loadedModel(std::move(named), context.planOptions());
    return QuantizedModel { std::make_shared<const Quantization>(std::move(made)), std::move(loaded) };
}

} // namespace qs
