// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/loaded_model.h"

#include "core/onnx/import.h"

namespace qs {

Result<LoadedModel> loadModel(const std::string& path, const PlanOptions& options)
{
    QS_TRY(const auto model, importModel(path, options.memoryLimit));
    return loadedModel(model, options);
}

LoadedModel loadedModel(std::shared_ptr<const Model> model, const PlanOptions& options)
{
    LoadedModel loaded;
    loaded.model = std::move(model);
    loaded.plan = Plan::make(loaded.model, options);
    const auto plan = loaded.plan;
    loaded.quant = std::make_shared<const QuantView>(
        QuantView::of(loaded.model->graph, [plan](ValueId id) { return plan->constant(id); }));
    return loaded;
}

} // namespace qs
