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

/// Files of these names beside another, where there are any.
void addBeside(FileRoles& files, const std::string& path, std::initializer_list<const char*> names)
{
    std::error_code none;
    for (const char* name : names)
        if (const auto beside = std::filesystem::path(path).parent_path() / name; std::filesystem::exists(beside, none))
            files.reads(beside.string(), "the configuration beside " + path);
}

} // namespace

void addFilesOf(FileRoles& files, const Recipe& recipe, const std::string& floatPath)
{
    const std::string& codes = recipe.codes.file;
    const std::string role = "the model that the recipe takes codes from";
    if (codes.empty())
        return;
    files.reads(codes, role);
    files.reads((std::filesystem::path(floatPath).parent_path() / codes).string(), role);
}

void addTokenizer(FileRoles& files, const std::string& path)
{
    if (path.empty())
        return;
    files.reads(path, "the tokenizer");
    addBeside(files, path, { "tokenizer_config.json" });
}

void addFilesOf(FileRoles& files, const DataRequest& request, const std::string& role)
{
    std::error_code none;
    if (request.spec.empty() || request.spec.starts_with("random:"))
        return;
    if (std::filesystem::is_directory(request.spec, none))
        files.readsBelow(request.spec, "a file of " + role, mayHoldData);
    else
        files.reads(request.spec, role);
    if (textPositions(request) > 0)
        addTokenizer(files, request.preprocess);
    else
        files.reads(request.preprocess, "what says how pictures become inputs");
}

void addFilesOf(FileRoles& files, const Model& model, const std::string& role)
{
    for (const auto& file : filesOf(model))
        files.reads(file->path(), file->path() == model.path ? role : "the weights of " + role);
    addBeside(files, model.path, { "genai_config.json", "tokenizer.json", "tokenizer_config.json" });
}

void addFilesOf(FileRoles& files, const Inputs& inputs)
{
    files.reads(inputs.floatPath, kFloatModel);
    files.reads(inputs.quantPath, kQuantizedModel);
    files.reads(inputs.other.path, kOtherModel);
    for (const auto& recipe : { inputs.recipe, inputs.other.recipe })
        if (recipe)
            addFilesOf(files, *recipe, inputs.floatPath);
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
