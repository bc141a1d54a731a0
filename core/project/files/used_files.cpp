// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/used_files.h"

#include "core/data/images/image_folder.h"
#include "core/data/open_data.h"
#include "core/onnx/import.h"

#include <filesystem>

namespace qs {

namespace {

const std::string kFloatModel = "the float model", kQuantizedModel = "the quantized model",
                  kOtherModel = "the second quantized model";

/// All models of a snapshot with what they are, as opened from files.
template <class Visit> void forEachModel(const Snapshot& snapshot, const std::string& quantized, const Visit& visit)
{
    if (snapshot.floatFile)
        visit(*snapshot.floatFile->model, kFloatModel);
    if (snapshot.quantFile)
        visit(*snapshot.quantFile->model, quantized);
    if (snapshot.other && snapshot.other->snapshot)
        forEachModel(*snapshot.other->snapshot, kOtherModel, visit);
}

/// It lies where the recipe says, or beside the float model.
void addCodes(FileRoles& files, const std::string& path, const std::string& floatPath)
{
    const std::string role = "the model that the recipe takes codes from";
    if (path.empty())
        return;
    files.reads(path, role);
    files.reads((std::filesystem::path(floatPath).parent_path() / path).string(), role);
}

} // namespace

void addFilesOf(FileRoles& files, const DataRequest& request, const std::string& role)
{
    std::error_code none;
    if (request.spec.empty() || request.spec.starts_with("random:"))
        return;
    if (std::filesystem::is_directory(request.spec, none))
        files.readsBelow(request.spec, "a file of " + role, mayHoldData);
    else
        files.reads(request.spec, role);
    files.reads(
        request.preprocess, textPositions(request) > 0 ? "the tokenizer" : "what says how pictures become inputs");
}

void addFilesOf(FileRoles& files, const Model& model, const std::string& role)
{
    for (const auto& file : filesOf(model))
        files.reads(file->path(), file->path() == model.path ? role : "the weights of " + role);
}

void addFilesOf(FileRoles& files, const Inputs& inputs)
{
    files.reads(inputs.floatPath, kFloatModel);
    files.reads(inputs.quantPath, kQuantizedModel);
    files.reads(inputs.other.path, kOtherModel);
    for (const auto& recipe : { inputs.recipe, inputs.other.recipe })
        if (recipe)
            addCodes(files, recipe->codes.file, inputs.floatPath);
    files.reads(inputs.rangesPath, "the ranges to take");
    files.reads(inputs.mapPath, "the pairs made by hand");
    files.reads(inputs.classNamesPath, "the names of classes");
    addFilesOf(files, inputs.data, "the data");
    addFilesOf(files, inputs.calibration, "the data for calibration");
}

void addFilesOf(FileRoles& files, const Snapshot& snapshot)
{
    addFilesOf(files, snapshot.inputs);
    forEachModel(snapshot, kQuantizedModel,
        [&](const Model& model, const std::string& role) { addFilesOf(files, model, role); });
}

} // namespace qs
