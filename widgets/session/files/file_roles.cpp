// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/file_roles.h"

#include "core/onnx/import.h"
#include "core/project/about/file_order.h"
#include "core/project/files/project_file.h"
#include "widgets/models/base/formatting.h"

#include <QFileInfo>

#include <map>
#include <string>
#include <utility>

namespace qs {

namespace {

/// Data that are given take the place of those there are; a description alone says how these are prepared.
DataRequest joined(DataRequest current, const DataRequest& given)
{
    if (!given.spec.empty())
        return given;
    if (!given.preprocess.empty())
        current.preprocess = given.preprocess;
    return current;
}

using FilesByRole = std::map<FileRole, std::vector<std::string>>;

Issue noPlace(const std::string& file, const char* why) { return badInput(why, file, "open it by itself"); }

void refuseOthers(const FilesByRole& found, std::vector<Issue>* refused)
{
    for (const auto& [role, files] : found)
        for (size_t i = role == FileRole::Project ? 1 : 0; i < files.size(); ++i)
            refused->push_back(noPlace(files[i], "is not opened beside a project, which names its files itself"));
}

/// Projects that cannot be read do not keep the other files from being opened.
void refuseBadProjects(FilesByRole& found, std::vector<Issue>* refused)
{
    const auto projects = found.find(FileRole::Project);
    if (projects == found.end())
        return;
    std::erase_if(projects->second, [&](const std::string& path) {
        const auto project = readProject(path);
        if (!project)
            refused->push_back(project.issue());
        return !project;
    });
    if (projects->second.empty())
        found.erase(projects);
}

/// Two quantized files: the first stands for the float one, where none is open. Two float files: the second for the
/// quantized one.
Inputs placedByRole(FilesByRole found, bool floatIsOpen, std::vector<Issue>* refused)
{
    auto &floats = found[FileRole::Float], &quantized = found[FileRole::Quantized];
    const auto take = [](std::vector<std::string>& files, std::string* place) {
        if (files.empty())
            return false;
        *place = files.front();
        files.erase(files.begin());
        return true;
    };
    Inputs given;
    if (!take(floats, &given.floatPath) && quantized.size() > 1 && !floatIsOpen)
        take(quantized, &given.floatPath);
    if (take(quantized, &given.quantPath))
        take(quantized, &given.other.path);
    else
        take(floats, &given.quantPath);
    take(found[FileRole::Data], &given.data.spec);
    take(found[FileRole::Preprocess], &given.data.preprocess);
    for (const auto& [role, files] : found)
        for (const std::string& file : files)
            refused->push_back(noPlace(file, "has no place beside the other files"));
    return given;
}

/// Beside what is open.
Inputs joined(const Inputs& current, Inputs given)
{
    if (!given.floatPath.empty() && !current.floatPath.empty()) {
        const bool alone = current.quantPath.empty() && given.quantPath.empty();
        const auto before = alone ? fileRole(toQt(current.floatPath)) : FileRole::Float;
        if (before.ok() && *before == FileRole::Quantized) {
            given.quantPath = current.floatPath;
            given.profile = current.profile;
            given.data = joined(current.data, given.data);
        }
        return given;
    }
    Inputs all = current;
    if (!given.floatPath.empty())
        all.floatPath = given.floatPath;
    if (!given.quantPath.empty())
        all.quantPath = given.quantPath;
    if (given.other.given())
        all.other = given.other;
    all.data = joined(current.data, given.data);
    return all;
}

} // namespace

bool quantizedAlone(const Snapshot& snapshot)
{
    const auto& model = snapshot.floatModel;
    return model && !snapshot.quantModel && model->quant && !model->isFloat();
}

Result<FileRole> fileRole(const QString& path)
{
    const QFileInfo info(path);
    if (!info.exists())
        return badInput("no such file or folder", path.toStdString(), "check the path");
    const QString suffix = info.suffix().toLower();
    if (info.isDir() || suffix == QLatin1String("npz") || suffix == QLatin1String("npy"))
        return FileRole::Data;
    if (suffix == QLatin1String("json"))
        return FileRole::Preprocess;
    if (suffix == QLatin1String("qscope"))
        return FileRole::Project;
    if (suffix != QLatin1String("onnx"))
        return badInput("is neither a model nor data nor a project", path.toStdString(),
            "open .onnx, .npz, .npy or .qscope files, or a folder");
    QS_TRY(const std::shared_ptr<const Model> model, importModel(path.toStdString()));
    return isQuantized(model->graph) ? FileRole::Quantized : FileRole::Float;
}

Result<PlacedFiles> withFiles(const Inputs& current, const QStringList& paths, const CancelToken& cancel)
{
    std::map<FileRole, std::vector<std::string>> found;
    PlacedFiles placed;
    for (const QString& path : paths) {
        if (cancel.cancelled())
            return cancelled();
        const auto role = fileRole(path);
        if (role.ok())
            found[*role].push_back(path.toStdString());
        else
            placed.refused.push_back(role.issue());
    }
    refuseBadProjects(found, &placed.refused);
    if (found.empty() && !placed.refused.empty())
        return placed.refused.front();
    if (found.contains(FileRole::Project)) {
        placed.project = toQt(found[FileRole::Project].front());
        refuseOthers(found, &placed.refused);
        return placed;
    }
    placed.inputs = joined(current, placedByRole(std::move(found), !current.floatPath.empty(), &placed.refused));
    return placed;
}

} // namespace qs
