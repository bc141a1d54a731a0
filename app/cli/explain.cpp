// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/project/about/explained_element.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/report/json/explanation_json.h"
#include "core/report/text/explanation_text.h"

#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

struct ExplainCommand {
    std::string model, floatModel, tensor, at, arithmetic = "simulated";
    int64_t sample = 0;
    DataOptions data;
};

Result<Shape> placeIn(const std::string& text)
{
    Shape at;
    const char* const end = text.data() + text.size();
    for (const char* from = text.data(); from != end;) {
        int64_t index = 0;
        const auto [next, error] = std::from_chars(from, end, index);
        if (error != std::errc() || index < 0 || (next != end && (*next != ',' || next + 1 == end)))
            return badUse("--at '" + text + "' is no place", "give an index for each axis, as in --at 0,3,1,2");
        at.push_back(index);
        from = next == end ? end : next + 1;
    }
    return at;
}

/// Of the model that is asked about: the quantized one where a float one stands beside it.
Result<TensorPlace> placeOfTensor(const Snapshot& snapshot, const ExplainCommand& o)
{
    const bool quantized = !o.floatModel.empty();
    if (const auto place = tensorNamed(snapshot, o.tensor, quantized))
        return *place;
    std::vector<std::string> names;
    for (const Value& value : (quantized ? snapshot.quantModel : snapshot.floatModel)->graph().values())
        names.push_back(value.name);
    std::string nearest;
    for (const std::string& name : nearestNames(o.tensor, names))
        nearest += (nearest.empty() ? "" : ", ") + ("'" + oneLine(name, 120) + "'");
    return badInput("there is no tensor '" + o.tensor + "'", o.model,
        nearest.empty()
            ? std::string("`quantscope-cli run MODEL --data DATA --all-tensors --out F.npz` writes all of them")
            : "the nearest names are " + nearest);
}

Result<Inputs> inputsOf(const ExplainCommand& o, const CommonOptions& common)
{
    Inputs inputs;
    inputs.floatPath = o.floatModel.empty() ? o.model : o.floatModel;
    if (!o.floatModel.empty())
        inputs.quantPath = o.model;
    inputs.compare = !o.floatModel.empty();
    inputs.run = false;
    QS_TRY(inputs.profile, arithmeticProfile(o.arithmetic));
    QS_TRY(inputs.data, dataRequest(o.data, common));
    QS_TRY(inputs.threads, threadCount(common));
    QS_TRY(inputs.memoryLimit, memoryLimit(common));
    QS_TRY(inputs.carry, carryPairs(common));
    return inputs;
}

Result<int> explain(const ExplainCommand& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_TRY(const Shape at, placeIn(o.at));
    if (o.sample < 0)
        return badUse("--sample must be 0 or more", "samples are counted from 0");
    QS_TRY(const Inputs inputs, inputsOf(o, common));
    QS_TRY(const WorkContext work, workContext(context));
    FileRoles files;
    addFilesOf(files, inputs);
    addFilesOf(files, common);
    QS_CHECK(checkFiles(files));
    QS_TRY(const SnapshotPtr snapshot, buildSnapshot(inputs, nullptr, progressBar(common), context.cancel));
    addFilesOf(files, *snapshot);
    QS_CHECK(files.check());
    QS_TRY(const TensorPlace place, placeOfTensor(*snapshot, o));
    auto found = explainElement(*snapshot, { place, at, size_t(o.sample), false }, work);
    clearProgress(common);
    if (!found.ok()) {
        Issue issue = std::move(found).issue();
        if (issue.file.empty())
            issue.file = o.model;
        return issue;
    }
    QS_CHECK(unchanged(*snapshot));
    printWarnings(snapshot->warnings, common);
    if (!common.json.empty()) {
        auto json = explanationJson(*found);
        json["sample"] = o.sample;
        if (!o.floatModel.empty() && !found->difference)
            json["difference"] = nullptr;
        QS_CHECK(writeOutput(
            common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    }
    if (common.json != "-")
        std::cout << explanationText(*found, common.verbose);
    return int(kDone);
}

} // namespace

Command addExplain(CLI::App& app, Context& context)
{
    auto o = std::make_shared<ExplainCommand>();
    app.add_option("MODEL", o->model, "ONNX file, quantized or not")->required();
    app.add_option("--float", o->floatModel, "the float model: splits the difference to it by operand");
    app.add_option("--tensor", o->tensor, "name of the tensor in MODEL")->required();
    app.add_option("--at", o->at, "the element: an index for each axis, the batch included; of a scalar nothing");
    app.add_option("--sample", o->sample, "which sample of the data, counted from 0 (default: 0)");
    addArithmetic(app, o->arithmetic);
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    return [o](Context& c) { return explain(*o, c); };
}

} // namespace qs::cli
