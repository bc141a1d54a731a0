// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/samples.h"

#include "core/data/open_data.h"

namespace qs {

std::vector<InputSpec> dataInputs(const Graph& graph, const CarryNames& carry)
{
    std::vector<InputSpec> specs;
    for (ValueId id : graph.inputs()) {
        const Value& v = graph.value(id);
        if (isCarried(carry, v.name))
            continue;
        specs.push_back({ v.name, v.type.dtype, v.type.dims });
    }
    return specs;
}

Result<std::shared_ptr<const DataSource>> openSamples(const SamplesKey& key, const BuildContext& context)
{
    context.report("open data");
    QS_CHECK(CarriedState::make(key.floatModel.plan, key.carry));
    return openData(key.request, dataInputs(key.floatModel.graph(), key.carry));
}

Result<std::shared_ptr<const ClassNames>> findClassNames(const ClassNamesKey& key)
{
    ClassNames names;
    if (key.given)
        names = *key.given;
    else if (key.floatModel)
        names = classNamesIn(key.floatModel->model->metadata);
    if (names.empty() && key.data)
        names = key.data->classNames();
    return std::make_shared<const ClassNames>(std::move(names));
}

} // namespace qs
