// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/expanded_model.h"

#include "core/base/work/cancel_scope.h"
#include "core/prepare/fuse/fuse_dequantizing.h"
#include "core/prepare/layouts/channel_blocks.h"
#include "core/prepare/layouts/channels_last.h"
#include "core/prepare/readable_caches.h"
#include "core/project/quantize/fixed_inputs.h"
#include "core/project/snapshot/samples.h"

#include <algorithm>

namespace qs {

namespace {

bool hasBodies(const Graph& graph)
{
    return std::ranges::any_of(
        graph.nodes(), [](const Node& node) { return node.is("If") || node.is("Loop") || node.is("Scan"); });
}

/// A carried state keeps the sizes that it begins with.
Result<bool> statesKeepSizes(const GraphDraft& draft, const KnownInputs& known, const CarryNames& carry)
{
    if (carry.empty())
        return true;
    QS_TRY(const auto plan, planOfKnown(draft, known));
    return std::ranges::all_of(carry, [&](const auto& link) {
        const ValueId out = plan->graph().findValue(link.first);
        const auto sizes = known.shapes.find(link.second);
        if (sizes == known.shapes.end())
            return true;
        const auto& dims = plan->facts().of(out).dims;
        return dims && std::ranges::equal(*dims, sizes->second, {}, &Dim::value);
    });
}

struct ExpandedDraft {
    GraphDraft draft;
    Expansion made;
};

Result<ExpandedDraft> expandedDraft(const std::shared_ptr<const Model>& model, const KnownInputs& known)
{
    ExpandedDraft expanded { GraphDraft(model), {} };
    ExpandOptions options;
    options.loops = true;
    QS_TRY(expanded.made, expandBodies(expanded.draft, known, options));
    return expanded;
}

Result<ExpandedDraft> expandedFor(const ExpansionKey& key)
{
    const auto& model = key.model.model;
    QS_TRY(KnownInputs known, commonInputs(*key.data, key.dataModel.graph(), model->graph, key.carry));
    QS_TRY(ExpandedDraft expanded, expandedDraft(model, known));
    QS_TRY(const bool steady, statesKeepSizes(expanded.draft, known, key.carry));
    if (steady)
        return expanded;
    for (const auto& link : key.carry)
        known.shapes.erase(link.second);
    return expandedDraft(model, known);
}

LoadedModel loadedAgain(const LoadedModel& from, std::shared_ptr<const Model> built, const BuildContext& context)
{
    auto model = std::make_shared<Model>(*built); // what is said of the file stays true of it
    model->fileNodes = from.model->fileNodes;
    model->hasFunctions = from.model->hasFunctions;
    model->warnings = from.model->warnings;
    LoadedModel loaded = loadedModel(std::move(model), context.planOptions());
    loaded.draft = from.draft;
    loaded.fitted = from.fitted;
    return loaded;
}

/// Whose inputs have their axes in another order may have the outputs so.
void fitOutputs(const ExpansionKey& key, GraphDraft& draft, std::vector<FittedInput>& all)
{
    const Graph &given = key.dataModel.graph(), &made = key.model.graph();
    for (size_t i = 0; i < given.outputs().size(); ++i) {
        const ValueId x = given.outputs()[i];
        ValueId y = made.findValue(given.value(x).name);
        if (std::ranges::find(made.outputs(), y) == made.outputs().end())
            y = made.outputs().size() == given.outputs().size() ? made.outputs()[i] : ValueId();
        const auto wanted = key.dataModel.plan->facts().of(x).dims;
        const auto own = y.valid() ? key.model.plan->facts().of(y).dims : std::nullopt;
        if (!wanted || !own)
            continue;
        if (auto fitted = fitOutput(draft, made.value(y).name, *own, *wanted))
            all.push_back(std::move(*fitted));
    }
}

/// Takes what the float model does; the model itself where it does so already.
Result<LoadedModel> withFittedInputs(const ExpansionKey& key, const BuildContext& context)
{
    if (key.model == key.dataModel)
        return key.model;
    const auto given = dataInputs(key.dataModel.graph(), key.carry), taken = dataInputs(key.model.graph(), key.carry);
    const auto partners = partnersOf(given, taken);
    GraphDraft draft(key.model.model);
    std::vector<FittedInput> all;
    for (size_t i = 0; i < given.size(); ++i)
        if (partners[i])
            if (auto fitted
                = fitInput(draft, *key.model.quant, partners[i]->name, { given[i].dtype, given[i].dims, {} }))
                all.push_back(std::move(*fitted));
    fitOutputs(key, draft, all);
    if (all.empty())
        return key.model;
    QS_TRY(const auto built, draft.build());
    LoadedModel loaded = loadedAgain(key.model, built, context);
    loaded.fitted = std::make_shared<const std::vector<FittedInput>>(std::move(all));
    return loaded;
}

/// With a DequantizeLinear where other operators make reals of codes: of an input in whose place the float model takes
/// reals, and of weights; the model itself where none do.
Result<LoadedModel> withDequantizing(const ExpansionKey& key, const BuildContext& context)
{
    if (key.model == key.dataModel)
        return key.model;
    const auto given = dataInputs(key.dataModel.graph(), key.carry), taken = dataInputs(key.model.graph(), key.carry);
    const auto partners = partnersOf(given, taken);
    GraphDraft draft(key.model.model);
    size_t made = 0;
    for (size_t i = 0; i < given.size(); ++i)
        if (partners[i] && isFloat(given[i].dtype) && isInteger(partners[i]->dtype))
            made
                += fuseInputDequantizing(draft, *key.model.plan, partners[i]->name, *key.dataModel.plan, given[i].name);
    if (!hasWholeProducts(*key.dataModel.plan)) // else they are the model's own
        made += fuseWholeProducts(draft, *key.model.plan);
    if (made == 0)
        return key.model;
    QS_TRY(const auto built, draft.build());
    return loadedAgain(key.model, built, context);
}

/// Images in the order that the other file has them in; the model itself where there are no others.
Result<LoadedModel> withPlainLayouts(const LoadedModel& model, const BuildContext& context)
{
    LoadedModel loaded = model;
    const auto rebuild = [&](auto change) -> Status {
        GraphDraft draft(loaded.model);
        change(draft, *loaded.plan);
        QS_TRY(const auto built, draft.build());
        loaded = loadedAgain(loaded, built, context);
        return {};
    };
    if (hasChannelBlocks(model.graph()))
        QS_CHECK(rebuild(takeApartBlocks));
    if (hasChannelsLast(model.graph()))
        QS_CHECK(rebuild(putChannelsSecond));
    return loaded;
}

/// The model itself where there are no caches of codes.
Result<LoadedModel> withReadableCaches(const LoadedModel& model, const BuildContext& context)
{
    if (!hasCodedCaches(model.graph()))
        return model;
    GraphDraft draft(model.model);
    addCacheReaders(draft);
    QS_TRY(const auto built, draft.build());
    LoadedModel loaded = loadedAgain(model, built, context);
    loaded.bodies = model.bodies;
    return loaded;
}

/// The plan of one branch of the If of this name, which is in no loop: there each iteration may take another branch.
std::shared_ptr<const Plan> branchPlan(const Plan& plan, const std::string& name, bool ofTrue)
{
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n) {
        const auto& branches = plan.step(NodeId(n)).subPlans;
        if (!plan.graph().nodes()[n].is("If") || branches.size() != 2) // that of a constant condition has one
            continue;
        if (plan.graph().nodes()[n].name == name)
            return branches[ofTrue ? 0 : 1];
        for (const auto& branch : branches)
            if (auto found = branch ? branchPlan(*branch, name, ofTrue) : nullptr)
                return found;
    }
    return nullptr;
}

void findUntaken(const Plan& plan, std::vector<UntakenBranch>& untaken)
{
    for (UntakenBranch& branch : untaken)
        branch.plan = branchPlan(plan, branch.node, branch.ofTrue);
    std::erase_if(untaken, [](const UntakenBranch& branch) { return !branch.plan; });
}

/// Constants of reals that are no single numbers, in loops and branches of its own, too.
bool holdsWeights(const Plan& plan)
{
    const Graph& graph = plan.graph();
    for (size_t v = 0; v < graph.values().size(); ++v)
        if (const Tensor* t = plan.constant(ValueId(v));
            t && isFloat(t->dtype()) && t->count() > 1 && !graph.value(ValueId(v)).producer.valid())
            return true;
    for (size_t n = 0; n < graph.nodes().size(); ++n)
        for (const auto& inner : plan.step(NodeId(n)).subPlans)
            if (inner && holdsWeights(*inner))
                return true;
    return false;
}

Result<LoadedModel> withoutBodies(const ExpansionKey& key, const BuildContext& context)
{
    if (!key.data || !hasBodies(key.model.graph()))
        return key.model;
    context.report("expand bodies");
    QS_TRY(ExpandedDraft expanded, expandedFor(key));
    findUntaken(*key.model.plan, expanded.made.untaken);
    LoadedModel loaded = key.model;
    if (expanded.made.branches + expanded.made.loops > 0) {
        QS_TRY(const auto built, expanded.draft.build());
        loaded = loadedAgain(key.model, built, context);
    }
    loaded.bodies = std::make_shared<const Expansion>(std::move(expanded.made));
    return loaded;
}

} // namespace

Result<LoadedModel> expandedModel(const ExpansionKey& key, const BuildContext& context)
{
    ExpansionKey fitted = key;
    QS_TRY(fitted.model, withDequantizing(key, context));
    QS_TRY(const LoadedModel taken, withFittedInputs(fitted, context));
    QS_TRY(fitted.model, withPlainLayouts(taken, context));
    QS_TRY(const LoadedModel expanded, withoutBodies(fitted, context));
    return withReadableCaches(expanded, context);
}

std::vector<std::string> bodyWarnings(const LoadedModel& model)
{
    std::vector<std::string> warnings;
    if (model.bodies)
        for (const KeptBody& kept : model.bodies->kept)
            warnings.push_back(model.model->path + ": what is inside '" + kept.node + "' (" + kept.opType
                + ") is not compared: " + kept.reason);
    return warnings;
}

std::string branchName(const UntakenBranch& branch)
{
    return std::string(branch.ofTrue ? "the then_branch" : "the else_branch") + " of '" + branch.node + "'";
}

std::vector<std::string> untakenWarnings(const LoadedModel& floatModel, const Comparison& c)
{
    constexpr size_t kNamedEach = 3;
    std::vector<std::string> names;
    size_t weights = 0;
    for (const UntakenBranch& branch : floatModel.bodies ? floatModel.bodies->untaken : std::vector<UntakenBranch>())
        if (holdsWeights(*branch.plan)) {
            names.push_back(branchName(branch));
            weights += size_t(std::ranges::count(c.weights, names.back(), &WeightRow::untaken));
        }
    if (names.empty())
        return {};
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kNamedEach); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kNamedEach)
        text += " and " + std::to_string(names.size() - kNamedEach) + " more branches";
    return { "no sample takes " + text + ": "
        + (weights > 0 ? "of what is inside only weights are compared, " + std::to_string(weights)
                    + " that have partners by their names"
                       : "nothing inside is compared, but for what the other branch reads, too")
        + "; give samples that take it, too" };
}

} // namespace qs
