// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/project/files/project_file.h"
#include "core/project/shards/shard_state.h"
#include "tests/fuzz/targets/fuzz_target.h"

#include <cstring>

namespace qs::test {

namespace {

using Seeds = std::vector<std::string>;

Arguments comparing(const Arguments& more = {})
{
    return exampleRun("compare") + Arguments { examplePath("digits_qdq.onnx") } + more;
}

void runProject(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("work.qscope", bytes);
    const auto project = readProject(path);
    if (!trial.judge(project, "a project"))
        return;
    changedFiles(*project);
    trial.judge(projectFromJson(projectToJson(*project, path), path), "the project again");
}

Project exampleProject()
{
    Project project;
    project.inputs.floatPath = examplePath("digits_float.onnx");
    project.inputs.recipe = Recipe {};
    project.inputs.data.spec = examplePath("digits_samples.npz");
    project.inputs.data.limit = 2;
    project.layout = "layout";
    return project;
}

Seeds projects(const FuzzFolder& folder)
{
    const std::string path = folder.path("seed.qscope");
    Project project = exampleProject();
    const std::string byRecipe = projectToJson(project, path);
    project.inputs.quantPath = examplePath("digits_qdq.onnx");
    project.inputs.recipe.reset();
    project.inputs.mapPath = folder.path("map.json");
    project.inputs.tasks = {};
    project.recovery = Recovery { path, {} };
    if (!markFiles(project).ok())
        return { byRecipe };
    return { byRecipe, projectToJson(project, path) };
}

/// With a length and a checksum that fit, so that what is inside is read.
std::string signedState(std::string bytes)
{
    constexpr size_t kChecksum = 16, kHead = 16;
    if (bytes.size() < kChecksum + kHead)
        return bytes;
    bytes.resize(bytes.size() - kChecksum);
    const uint64_t length = bytes.size() - kHead;
    std::memcpy(bytes.data() + 8, &length, sizeof length);
    const Hash128 hash = hashText(bytes);
    bytes.append(reinterpret_cast<const char*>(&hash.low), 8);
    return bytes.append(reinterpret_cast<const char*>(&hash.high), 8);
}

void runState(Trial& trial, const std::string& bytes)
{
    const FuzzFolder& folder = trial.folder();
    for (const std::string& some : { bytes, signedState(bytes) }) {
        const std::string path = folder.written("one.qstate", some);
        trial.judge(readShardState(path), "a state");
        trial.command({ "merge", path, "--json", folder.path("m.json"), "--html", folder.path("m.html") });
    }
}

Seeds states(const FuzzFolder& folder)
{
    const std::string path = folder.path("seed.qstate");
    prepare(comparing({ "--shard", "1/1", "--state", path }));
    Seeds made { bytesOf(path) };
    prepare(exampleRun("compare") + Arguments { "--format", "qdq", "--shard", "1/2", "--state", path });
    made.push_back(bytesOf(path));
    return made;
}

void runMap(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("map.json", bytes);
    trial.command(comparing({ "--map", path, "--save-map", trial.folder().path("again.json") }));
}

Seeds maps(const FuzzFolder& folder)
{
    prepare(comparing({ "--save-map", folder.path("seed.json") }));
    return { bytesOf(folder.path("seed.json")),
        R"({"pairs": [{"float": "scores", "quantized": "scores"}], "apart": [{"float": "image"}]})" };
}

void runGate(Trial& trial, const std::string& bytes)
{
    const FuzzFolder& folder = trial.folder();
    const std::string path = folder.written("gates.toml", bytes);
    trial.command(comparing({ "--gate", path, "--junit", folder.path("j.xml"), "--sarif", folder.path("s.sarif"),
        "--markdown", folder.path("m.md") }));
}

Seeds gates(const FuzzFolder& folder)
{
    prepare(comparing({ "--json", folder.path("baseline.json") }));
    return { "[outputs]\nmin_sqnr_db = 20\nmax_accuracy_drop = 1.0\nmin_top1 = 0.98\n"
             "[[tensors]]\nname = \"/block/*\"\nmin_sqnr_db = 15\n"
             "[[tensors]]\nname = 're:^/stem/.*Relu'\nmin_sqnr_db = 25\n",
        "[findings]\nfail_on = \"error\"\nignore = [\"range_too_large\"]\n"
        "[baseline]\nfile = \"baseline.json\"\nmax_loss_db = 0.5\n" };
}

void runBaseline(Trial& trial, const std::string& bytes)
{
    const FuzzFolder& folder = trial.folder();
    folder.written("baseline.json", bytes);
    trial.command(comparing(
        { "--gate", folder.written("gates.toml", "[baseline]\nfile = \"baseline.json\"\nmax_loss_db = 0.5\n") }));
}

Seeds baselines(const FuzzFolder& folder)
{
    prepare(comparing({ "--json", folder.path("seed.json") }));
    return { bytesOf(folder.path("seed.json")) };
}

} // namespace

void addProjectTargets(FuzzTargets& targets)
{
    targets.push_back({ "project", FuzzForm::Text, "project.dict", projects, runProject, 20 });
    targets.push_back({ "qstate", FuzzForm::Bytes, "", states, runState, 10 });
    targets.push_back({ "map", FuzzForm::Text, "project.dict", maps, runMap, 5 });
    targets.push_back({ "gate", FuzzForm::Text, "gate.dict", gates, runGate, 10 });
    targets.push_back({ "baseline", FuzzForm::Text, "project.dict", baselines, runBaseline, 5 });
}

} // namespace qs::test
