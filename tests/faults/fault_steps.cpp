// SPDX-License-Identifier: GPL-3.0-or-later
// What no command does by itself: "external MODEL OUT" writes a model with all its weights beside it, "project MODEL
// OUT" a project, "open PROJECT" reads one. Ends as the program's commands do.
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/files/project_file.h"
#include "tests/faults/step_end.h"

#include <cstdio>
#include <string_view>

using namespace qs;

namespace {

Status exportOutside(const std::string& model, const std::string& out)
{
    QS_TRY(const auto imported, importModel(model));
    ExportOptions options;
    options.inlineLimit = 0;
    return exportModel(GraphDraft(imported), out, options);
}

Status saveProject(const std::string& model, const std::string& out)
{
    Project project;
    project.inputs.floatPath = model;
    project.inputs.recipe = Recipe();
    project.layout = "as it was left";
    QS_CHECK(markFiles(project));
    return writeProject(project, out);
}

Status openProject(const std::string& path)
{
    QS_TRY(const Project project, readProject(path));
    std::printf("%s\n", project.inputs.floatPath.c_str());
    const auto changed = changedFiles(project);
    return changed.empty() ? Status() : changed.front();
}

Status carriedOut(int argc, char** argv)
{
    const std::string_view step = argc > 2 ? argv[1] : "";
    if (step == "external" && argc == 4)
        return exportOutside(argv[2], argv[3]);
    if (step == "project" && argc == 4)
        return saveProject(argv[2], argv[3]);
    if (step == "open" && argc == 3)
        return openProject(argv[2]);
    return badUse("no such step");
}

} // namespace

int main(int argc, char** argv)
{
    return test::endOfStep([=] { return carriedOut(argc, argv); });
}
