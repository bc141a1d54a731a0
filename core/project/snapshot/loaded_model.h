// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/plan/plan.h"
#include "core/prepare/expand_bodies.h"
#include "core/prepare/fitted_inputs.h"
#include "core/qdq/quant_view.h"

#include <memory>
#include <string>

namespace qs {

/// A model that is ready to run. Two are equal when they were loaded at once.
struct LoadedModel {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const QuantView> quant;
    std::shared_ptr<const GraphDraft> draft; ///< of the float model, which edits of a recipe ask; of others null
    /// Of a quantized model: inputs that take what the float model's do, and not what the file's do; null: none.
    std::shared_ptr<const std::vector<FittedInput>> fitted;
    std::shared_ptr<const Expansion> bodies; ///< what became of If, Loop and Scan; null where there are none to look at
    const Graph& graph() const { return model->graph; }
    bool isFloat() const { return quant->form() == QuantForm::Float; }
    bool operator==(const LoadedModel&) const = default;
};

/// How a body of If, Loop or Scan is quantized.
struct BodyView {
    std::shared_ptr<const Plan> plan;
    QuantView quant;
};
/// Of all bodies that may run, those in others included.
std::vector<BodyView> bodyViews(const Plan& plan);
/// What the main graph and its bodies have together.
QuantForm formOf(const LoadedModel& model, const std::vector<BodyView>& bodies);

/// Opens one model file and prepares it (plan, quantization view).
Result<LoadedModel> loadModel(const std::string& path, const PlanOptions& options = {});
/// The same for a model in memory.
LoadedModel loadedModel(std::shared_ptr<const Model> model, const PlanOptions& options = {});

} // namespace qs
