// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/warnings.h"

#include "core/base/issue_text.h"
#include "core/data/implied_inputs.h"
#include "core/project/snapshot/expanded_model.h"
#include "core/project/snapshot/samples.h"
#include "core/quant/model/load_warnings.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace qs {

namespace {

/// Nodes that cannot be run: each by its name, and many of one operator for one reason together.
std::vector<std::string> unsupportedWarnings(const Plan& plan)
{
    constexpr size_t kNamedEach = 3;
    std::vector<std::vector<Issue>> groups; // in node order
    std::map<std::string, size_t> groupOf;
    for (const auto& [id, issue] : plan.unsupported()) {
        const size_t at = groupOf.try_emplace(issue.what, groups.size()).first->second;
        if (at == groups.size())
            groups.emplace_back();
        groups[at].push_back(issue);
    }
    std::vector<std::string> warnings;
    for (std::vector<Issue>& group : groups) {
        if (group.size() > kNamedEach) {
            Issue all = group[0];
            all.what = std::to_string(group.size()) + " nodes, the first is '" + all.node + "': " + all.what;
            all.node.clear();
            group = { all };
        }
        std::ranges::transform(group, std::back_inserter(warnings), issueText);
    }
    return warnings;
}

/// On what cannot be run or shown of the file.
std::vector<std::string> modelWarnings(const LoadedModel& model, const std::string& path)
{
    std::vector<std::string> warnings = unsupportedWarnings(*model.plan);
    for (const ValueId out : model.graph().outputs())
        if (const std::string container = model.plan->container(out); !container.empty())
            warnings.push_back(
                path + ": output '" + model.graph().value(out).name + "' is a " + container + " and is left out");
    warnings.insert(warnings.end(), model.model->warnings.begin(), model.model->warnings.end());
    if (!model.isFloat())
        std::ranges::move(loadWarnings(model.model), std::back_inserter(warnings));
    return warnings;
}

/// Quantizers of another domain, or faulty ones, which have a warning of their own.
bool hasUnknownQuantizers(const LoadedModel& model)
{
    return std::ranges::any_of(model.plan->unsupported(), [&](const auto& node) {
        const std::string& type = model.graph().node(node.first).opType;
        return type.find("uantize") != std::string::npos;
    });
}

/// The files may have been given in the wrong order.
std::vector<std::string> orderWarnings(const Snapshot& s)
{
    std::vector<std::string> warnings;
    const QuantForm first = s.floatModel->quant->form();
    if (first != QuantForm::Float)
        warnings.push_back(s.inputs.floatPath + ": is quantized itself (" + std::string(quantFormName(first))
            + ") and is taken as the reference; give the float model first");
    if (s.quantModel->isFloat() && !hasUnknownQuantizers(*s.quantModel)
        && formOf(*s.quantModel, bodyViews(*s.quantModel->plan)) == QuantForm::Float)
        warnings.push_back(s.quantization
                ? "the recipe quantizes nothing of this model"
                : s.inputs.quantPath + ": has no quantization that is known here; give the quantized model second");
    return warnings;
}

/// What one file alone takes: the beginning of a text implies it.
std::vector<std::string> inputWarnings(const Snapshot& s)
{
    const CarryNames& carry = s.inputs.carry;
    const auto f = dataInputs(s.floatModel->graph(), carry), q = dataInputs(s.quantModel->graph(), carry);
    const auto lines = [](const std::vector<InputSpec>& taken, const std::vector<InputSpec>& given,
                           const std::string& path, const std::string& what) {
        std::vector<std::string> names;
        const auto places = placesOf(taken, given);
        for (size_t i = 0; i < taken.size(); ++i)
            if (places[i] == given.size() && impliedBy(taken[i]))
                names.push_back("'" + taken[i].name + "': " + std::string(impliedText(*impliedBy(taken[i]))));
        if (names.empty())
            return names;
        const std::string more
            = names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : std::string();
        return std::vector { path + ": takes what " + what + ", as the tokens imply it: " + names.front() + more };
    };
    auto warnings = lines(q, f, s.inputs.quantPath, "the float model does not");
    const auto others = lines(f, q, s.inputs.floatPath, "the quantized model does not");
    warnings.insert(warnings.end(), others.begin(), others.end());
    return warnings;
}

/// Samples without a label, and labels that no class of the model has.
std::vector<std::string> labelWarnings(const DataSource& data, const std::string& path, size_t classes)
{
    std::vector<int64_t> labels = data.labels();
    std::erase_if(labels, [](int64_t label) { return label < 0; });
    std::vector<std::string> warnings;
    if (const size_t without = data.labels().size() - labels.size(); without > 0)
        warnings.push_back(path + ": " + std::to_string(without) + " of " + std::to_string(data.labels().size())
            + " samples have no label (a negative one) and are left out of the accuracy");
    if (labels.empty() || classes == 0)
        return warnings;
    const auto [lowest, highest] = std::ranges::minmax(labels);
    const auto count = static_cast<int64_t>(classes);
    if (highest < count)
        return warnings;
    const bool fromOne = lowest >= 1 && highest == count;
    const auto beyond = std::ranges::count_if(labels, [&](int64_t label) { return label >= count; });
    warnings.push_back(path + ": labels go from " + std::to_string(lowest) + " to " + std::to_string(highest)
        + ", but the model has " + std::to_string(count) + " classes, from 0 to " + std::to_string(count - 1)
        + (fromOne ? "; they seem to count from 1, so that all are compared with the wrong class: subtract 1 from each"
                   : "; the " + std::to_string(beyond)
                    + " samples beyond them count as wrong: give labels of this model"));
    return warnings;
}

/// Labels and names of classes that are not the model's.
std::vector<std::string> classWarnings(const Snapshot& s)
{
    std::vector<std::string> warnings;
    const size_t classes = classesOf(*s.floatModel->plan);
    const size_t folders = s.data->classNames().size();
    if (classes > 0 && folders > 0 && folders != classes)
        warnings.push_back(s.inputs.data.spec + ": has " + std::to_string(folders) + " classes, the model "
            + std::to_string(classes)
            + "; labels count the folders, so right and wrong mean nothing unless these are its first classes: give "
              "labels.csv");
    for (const std::string& warning : labelWarnings(*s.data, s.inputs.data.spec, classes))
        warnings.push_back(warning);
    return warnings;
}

} // namespace

std::vector<std::string> warningsOf(const Snapshot& s)
{
    std::vector<std::string> all;
    const auto add = [&](const std::vector<std::string>& some) { all.insert(all.end(), some.begin(), some.end()); };
    if (s.floatModel)
        add(modelWarnings(*s.floatModel, s.inputs.floatPath));
    if (s.quantModel && !s.quantization)
        add(modelWarnings(*s.quantModel, s.inputs.quantPath));
    for (const auto& data : { s.data, s.calibrationData })
        if (data)
            add(data->warnings());
    if (s.quantization)
        add(s.quantization->warnings);
    for (const auto& model : { s.floatModel, s.quantModel })
        if (model)
            add(bodyWarnings(*model));
    if (s.floatModel && s.quantModel)
        for (const auto& some : { orderWarnings(s), inputWarnings(s) })
            add(some);
    if (s.floatModel && s.data)
        add(classWarnings(s));
    return all;
}

std::vector<std::string> disputeWarnings(const Snapshot& s)
{
    std::vector<std::string> warnings;
    for (const auto& [f, q] : s.alignment->disputed)
        warnings.push_back("'" + s.floatModel->graph().value(f).name + "' and '" + s.quantModel->graph().value(q).name
            + "' are paired by hand, but without quantizers the two files compute different values there; their "
              "numbers "
              "are those of two tensors; take the pair out of the map unless this is meant");
    return warnings;
}

std::optional<std::string> unusedLabelsWarning(const Comparison& c, const std::vector<int64_t>& labels, bool ofFolders)
{
    const bool labelled = std::ranges::any_of(labels, [](int64_t label) { return label >= 0; });
    if (!labelled || ofFolders || c.accuracy || c.outputs.empty())
        return std::nullopt;
    std::string text = "labels are not used: accuracy is that of the first output, and '" + c.outputs.front().name
        + "' names no class for a whole sample (one score, several positions, pixels or features)";
    const auto named
        = std::ranges::find(c.outputs, TaskKind::Classes, [](const OutputRow& o) { return o.task.what.kind; });
    if (named != c.outputs.end() && named != c.outputs.begin())
        text += "; top-1 agreement tells of '" + named->name + "'";
    return text;
}

std::optional<std::string> nonFiniteWarning(const Comparison& c)
{
    const auto spoiled = [](const ActivationRow& row) { return row.accumulated.nonFinite > 0; };
    const auto first = std::ranges::find_if(c.activations, spoiled);
    if (first == c.activations.end())
        return std::nullopt;
    const bool inside = std::ranges::none_of(c.activations, [&](const auto& row) {
        return !row.floatNode.valid() && spoiled(row);
    }) && std::ranges::all_of(c.outputs, [](const OutputRow& row) { return row.similarity.nonFinite == 0; });
    const bool overflows = c.network && c.network->distance.overflow;
    return "tensor '" + first->name
        + "' has values that are not finite (NaN or infinity): " + std::to_string(first->accumulated.nonFinite)
        + " of them, and " + std::to_string(std::ranges::count_if(c.activations, spoiled) - 1)
        + " other tensors have some, too; all numbers leave them out"
        + (overflows ? ""
                : inside
                ? "; inputs and outputs have none, so they come of the network itself (a logarithm of zero, a mask)"
                : "; check the data");
}

} // namespace qs
