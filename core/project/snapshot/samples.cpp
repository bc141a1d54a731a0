// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/samples.h"

#include "core/analysis/tasks/prompt_limits.h"
#include "core/analysis/tasks/scores.h"
#include "core/data/implied_inputs.h"
#include "core/data/input_fit.h"
#include "core/data/open_data.h"
#include "core/graph/input_sizes.h"

#include <algorithm>

namespace qs {

namespace {

std::vector<InputSpec> inputsThatAre(const Graph& graph, const CarryNames& carry, bool carried)
{
    std::vector<InputSpec> specs;
    for (ValueId id : graph.inputs()) {
        const Value& v = graph.value(id);
        if (isCarried(carry, v.name) == carried)
            specs.push_back({ v.name, v.type.dtype, inputSizes(graph, id) });
    }
    return specs;
}

} // namespace

namespace {

/// One name for each of so many classes; a dictionary may name some of them.
bool nameClasses(const ClassNames& names, size_t classes)
{
    const bool sparse = std::ranges::find(names, std::string()) != names.end();
    return names.size() == classes || (sparse && names.size() < classes);
}

} // namespace

std::vector<InputSpec> dataInputs(const Graph& graph, const CarryNames& carry)
{
    return inputsThatAre(graph, carry, false);
}

std::vector<InputSpec> carriedInputs(const Graph& graph, const CarryNames& carry)
{
    return inputsThatAre(graph, carry, true);
}

std::vector<const InputSpec*> partnersOf(const std::vector<InputSpec>& floats, const std::vector<InputSpec>& others)
{
    std::vector<const InputSpec*> partners(floats.size(), nullptr);
    const auto places = placesOf(others, floats);
    for (size_t i = 0; i < others.size(); ++i)
        if (places[i] < floats.size())
            partners[places[i]] = &others[i];
    return partners;
}

FixedBatches fixedBatches(const Graph& floatGraph, const Graph& quantGraph, const CarryNames& carry)
{
    const auto isFixed = [](const Dims& dims) { return !dims.empty() && dims.front().known(); };
    const auto floats = dataInputs(floatGraph, carry), quant = dataInputs(quantGraph, carry);
    const auto partners = partnersOf(floats, quant);
    FixedBatches batches;
    for (size_t i = 0; i < floats.size(); ++i) {
        const auto& open = floats[i].dims;
        if (!partners[i] || !partners[i]->dims || !open || open->size() != partners[i]->dims->size())
            continue;
        if (isFixed(*partners[i]->dims) && !isFixed(*open))
            batches[floats[i].name] = batchSize(*partners[i]);
    }
    return batches;
}

Result<std::shared_ptr<const DataSource>> openDataFor(
    const Graph& graph, const DataRequest& request, const CarryNames& carry, const FixedBatches& batches)
{
    std::vector<InputSpec> inputs = dataInputs(graph, carry);
    for (InputSpec& input : inputs)
        if (const auto batch = batches.find(input.name); batch != batches.end())
            input.dims->front() = Dim { batch->second };
    QS_TRY(auto data, openData(request, inputs, carriedInputs(graph, carry)));
    std::vector<std::string> names;
    for (const InputSpec& input : inputs)
        names.push_back(input.name);
    return checkedPrompts(std::move(data), promptLimits(graph, inputs), std::move(names), request.spec,
        textPositions(request) > 0 ? request.preprocess : std::string());
}

Result<std::shared_ptr<const DataSource>> openSamples(const SamplesKey& key, const BuildContext& context)
{
    context.report("open data");
    const Graph& graph = key.floatModel.graph();
    QS_CHECK(CarriedState::make(key.floatModel.plan, key.carry)); // names first
    QS_TRY(auto data, openDataFor(graph, key.request, key.carry, key.batches));
    QS_CHECK(CarriedState::make(key.floatModel.plan, key.carry, data->initialStates()));
    return data;
}

Issue blamedOnData(Issue issue, const Graph& graph, const std::string& spec)
{
    const auto isIt = [&](ValueId id) { return graph.value(id).name == issue.tensor; };
    if (!issue.tensor.empty() && !spec.empty() && std::ranges::any_of(graph.inputs(), isIt))
        issue.file = spec;
    return issue;
}

size_t classesOf(const Plan& plan)
{
    const auto& outputs = plan.graph().outputs();
    if (outputs.empty() || scoreKindOf(plan, outputs.front()) == ScoreKind::None)
        return 0;
    const auto dims = plan.facts().of(outputs.front()).dims;
    if (!dims || dims->empty() || !dims->back().known())
        return 0;
    const auto rows = scoreRows(*dims);
    return rows ? rows->classes : 0;
}

Result<std::shared_ptr<const ClassNames>> findClassNames(const ClassNamesKey& key)
{
    ClassNames names;
    const size_t classes = key.floatModel ? classesOf(*key.floatModel->plan) : 0;
    if (key.given) {
        names = *key.given;
        if (classes > 0 && !nameClasses(names, classes))
            return badInput("names " + std::to_string(names.size()) + (names.size() == 1 ? " class" : " classes")
                    + ", but the model has " + std::to_string(classes) + " of them",
                key.path, "give a file with one name a class, in the order of the classes");
    } else if (key.floatModel) {
        names = classNamesIn(key.floatModel->model->metadata);
        if (classes > 0 && names.size() > classes)
            names.clear(); // of another output
    }
    if (names.empty() && key.data)
        names = key.data->classNames();
    return std::make_shared<const ClassNames>(std::move(names));
}

} // namespace qs
