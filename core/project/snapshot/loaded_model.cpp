// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/loaded_model.h"

#include "core/onnx/import.h"

#include <algorithm>
#include <iterator>

namespace qs {

Result<LoadedModel> loadModel(const std::string& path, const PlanOptions& options)
{
    QS_TRY(const auto model, importModel(path, options.memoryLimit));
    return loadedModel(model, options);
}

std::vector<BodyView> bodyViews(const Plan& plan)
{
    std::vector<BodyView> views;
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n)
        for (const auto& body : plan.step(NodeId(n)).subPlans) {
            if (!body)
                continue;
            views.push_back({ body, QuantView::of(body->graph(), [&](ValueId id) { return body->constant(id); }) });
            std::ranges::move(bodyViews(*body), std::back_inserter(views));
        }
    return views;
}

QuantForm formOf(const LoadedModel& model, const std::vector<BodyView>& bodies)
{
    QuantForm form = model.quant->form();
    for (const BodyView& body : bodies)
        if (const QuantForm own = body.quant.form(); own != QuantForm::Float && own != form)
            form = form == QuantForm::Float ? own : QuantForm::Mixed;
    return form;
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
