// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/project_file.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace qs {

namespace {

namespace fs = std::filesystem;
using ProjectJson = nlohmann::ordered_json;

constexpr std::array kProfiles { ArithmeticProfile::Simulated, ArithmeticProfile::Integer,
    ArithmeticProfile::IntegerAvx2 };
constexpr std::array kBases { ValueOrigin::Default, ValueOrigin::Preset, ValueOrigin::Imported };

/// Paths as they stand in the file and as they are used.
class Paths {
public:
    explicit Paths(const std::string& projectPath)
        : m_folder(fs::absolute(projectPath).lexically_normal().parent_path())
    {
    }
    std::string stored(const std::string& path) const
    {
        if (path.empty())
            return path;
        const fs::path whole = fs::absolute(path).lexically_normal();
        const fs::path relative = whole.lexically_relative(m_folder);
        const std::string text = relative.generic_string();
        return text.empty() || text.starts_with("../..") ? whole.generic_string() : text;
    }
    std::string used(const std::string& text) const
    {
        if (text.empty() || fs::path(text).is_absolute())
            return text;
        return (m_folder / text).lexically_normal().string();
    }
    /// Data may be generated instead of read.
    std::string storedData(const std::string& spec) const { return spec.starts_with("random:") ? spec : stored(spec); }
    std::string usedData(const std::string& spec) const { return spec.starts_with("random:") ? spec : used(spec); }

private:
    fs::path m_folder;
};

ProjectJson dataJson(const DataRequest& data, const Paths& paths)
{
    ProjectJson json { { "spec", paths.storedData(data.spec) } };
    if (!data.preprocess.empty())
        json["preprocess"] = paths.stored(data.preprocess);
    if (!data.shapes.empty())
        json["shapes"] = data.shapes;
    if (data.limit)
        json["limit"] = *data.limit;
    if (data.seed)
        json["seed"] = *data.seed;
    return json;
}

DataRequest dataOf(const ProjectJson& json, const Paths& paths)
{
    DataRequest data;
    data.spec = paths.usedData(json.value("spec", std::string()));
    data.preprocess = paths.used(json.value("preprocess", std::string()));
    const ProjectJson shapes = json.value("shapes", ProjectJson::object());
    for (const auto& [name, sizes] : shapes.items())
        std::ranges::transform(sizes, std::back_inserter(data.shapes[name]), wholeOf);
    if (json.contains("limit"))
        data.limit = static_cast<size_t>(naturalOf(json["limit"]));
    if (json.contains("seed"))
        data.seed = naturalOf(json["seed"]);
    return data;
}

ManualPairs pairsOf(const ProjectJson& list)
{
    ManualPairs pairs;
    for (const ProjectJson& pair : list)
        pairs.emplace_back(pair.value("float", std::string()), pair.value("quantized", std::string()));
    return pairs;
}

ProjectJson recipeJson(const Recipe& recipe) { return ProjectJson::parse(recipeToJson(recipe)); }

Result<Recipe> recipeIn(const ProjectJson& json, const char* key)
{
    if (!json.is_object())
        return recipeOf(json); // says that it is none
    const auto it = json.find(key);
    return recipeOf(it == json.end() ? ProjectJson::object() : *it);
}

ProjectJson tasksJson(const TaskChoices& tasks)
{
    ProjectJson outputs = ProjectJson::object();
    for (const auto& [name, choice] : tasks.told)
        outputs[name] = taskText(choice);
    return { { "outputs", std::move(outputs) }, { "box_score", tasks.boxes.score },
        { "box_nms", tasks.boxes.suppression }, { "box_match", tasks.boxes.match } };
}

/// Tasks that this version does not know are left to recognition.
TaskChoices tasksOf(const ProjectJson& json)
{
    TaskChoices tasks;
    for (const auto& [name, text] : json.value("outputs", std::map<std::string, std::string>()))
        if (const auto choice = taskFromText(text))
            tasks.told[name] = *choice;
    const BoxThresholds usual,
        read { json.value("box_score", usual.score), json.value("box_nms", usual.suppression),
            json.value("box_match", usual.match) };
    tasks.boxes = read.valid() ? read : usual;
    return tasks;
}

ProjectJson inputsJson(const Inputs& inputs, const Paths& paths)
{
    ProjectJson json { { "float", paths.stored(inputs.floatPath) }, { "quantized", paths.stored(inputs.quantPath) },
        { "data", dataJson(inputs.data, paths) } };
    if (!inputs.calibration.spec.empty())
        json["calibration"] = dataJson(inputs.calibration, paths);
    if (!inputs.rangesPath.empty())
        json["ranges"] = paths.stored(inputs.rangesPath);
    if (!inputs.classNamesPath.empty())
        json["class_names"] = paths.stored(inputs.classNamesPath);
    if (!inputs.mapPath.empty())
        json["map"] = paths.stored(inputs.mapPath);
    if (!inputs.links.empty())
        json["links"] = ProjectJson::parse(manualLinksJson(inputs.links));
    if (!inputs.other.path.empty())
        json["other"] = paths.stored(inputs.other.path);
    else if (inputs.other.recipe)
        json["other"] = { { "recipe", recipeJson(*inputs.other.recipe) } };
    if (!inputs.carry.empty())
        json["carry"] = inputs.carry;
    if (inputs.tasks != TaskChoices {})
        json["tasks"] = tasksJson(inputs.tasks);
    json["arithmetic"] = std::string(profileName(inputs.profile));
    json["local"] = inputs.nodeAlone;
    return json;
}

Result<Inputs> inputsOf(const ProjectJson& json, const Paths& paths)
{
    Inputs inputs;
    inputs.floatPath = paths.used(json.value("float", std::string()));
    inputs.quantPath = paths.used(json.value("quantized", std::string()));
    inputs.data = dataOf(json.value("data", ProjectJson::object()), paths);
    inputs.calibration = dataOf(json.value("calibration", ProjectJson::object()), paths);
    inputs.rangesPath = paths.used(json.value("ranges", std::string()));
    inputs.classNamesPath = paths.used(json.value("class_names", std::string()));
    inputs.mapPath = paths.used(json.value("map", std::string()));
    if (const auto links = json.find("links"); links != json.end()) {
        inputs.links.pairs = pairsOf(links->value("pairs", ProjectJson::array()));
        inputs.links.apart = pairsOf(links->value("apart", ProjectJson::array()));
    }
    if (const auto other = json.find("other"); other != json.end() && other->is_string()) {
        inputs.other.path = paths.used(other->get<std::string>());
    } else if (other != json.end()) {
        QS_TRY(inputs.other.recipe, recipeIn(*other, "recipe"));
    }
    inputs.carry = json.value("carry", inputs.carry);
    inputs.tasks = tasksOf(json.value("tasks", ProjectJson::object()));
    inputs.nodeAlone = json.value("local", false);
    for (ArithmeticProfile profile : kProfiles)
        if (json.value("arithmetic", std::string()) == profileName(profile))
            inputs.profile = profile;
    return inputs;
}

ProjectJson numberJson(const Number& number) { return number ? ProjectJson(*number) : ProjectJson(); }

Number numberOf(const ProjectJson& json, const char* key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_number() ? Number(it->get<double>()) : std::nullopt;
}

using NumberField = std::pair<const char*, Number RunNumbers::*>;
constexpr std::array<NumberField, 5> kNumbers { { { "output_sqnr_db", &RunNumbers::outputSqnrDb },
    { "accuracy", &RunNumbers::accuracy }, { "float_accuracy", &RunNumbers::floatAccuracy },
    { "top1_agreement", &RunNumbers::top1Agreement }, { "quantized_mac_share", &RunNumbers::quantizedMacShare } } };

ProjectJson numbersJson(const RunNumbers& numbers)
{
    ProjectJson json;
    for (const auto& [key, field] : kNumbers)
        json[key] = numberJson(numbers.*field);
    json["exact"] = numbers.exact;
    if (numbers.fileBytes)
        json["file_bytes"] = *numbers.fileBytes;
    json["samples"] = numbers.samples;
    json["data"] = numbers.data;
    json["measured_on"] = numbers.measuredOn;
    return json;
}

RunNumbers numbersOf(const ProjectJson& json)
{
    RunNumbers numbers;
    for (const auto& [key, field] : kNumbers)
        numbers.*field = numberOf(json, key);
    numbers.exact = json.value("exact", false);
    if (json.contains("file_bytes"))
        numbers.fileBytes = naturalOf(json["file_bytes"]);
    numbers.samples = static_cast<size_t>(naturalAt(json, "samples"));
    numbers.data = json.value("data", std::string());
    numbers.measuredOn = json.value("measured_on", std::string());
    return numbers;
}

ProjectJson runsJson(const RunTree& tree)
{
    ProjectJson list = ProjectJson::array();
    for (const RecipeRun& run : tree.runs()) {
        ProjectJson json { { "id", run.id }, { "parent", run.parent }, { "name", run.name }, { "note", run.note },
            { "imported", run.imported }, { "recipe", recipeJson(run.recipe) } };
        if (run.numbers)
            json["numbers"] = numbersJson(*run.numbers);
        list.push_back(std::move(json));
    }
    return list;
}

/// 0, which is none, where it is no possible number of a run.
RunId runIdAt(const ProjectJson& json, const char* key)
{
    const uint64_t id = naturalAt(json, key);
    return id < std::numeric_limits<RunId>::max() ? static_cast<RunId>(id) : RunId(0);
}

Result<RunTree> runsOf(const ProjectJson& json)
{
    const ProjectJson none = ProjectJson::array();
    std::vector<RecipeRun> runs;
    const auto list = json.find("runs");
    for (const ProjectJson& from : list == json.end() ? none : *list) {
        RecipeRun run;
        run.id = runIdAt(from, "id");
        run.parent = runIdAt(from, "parent");
        run.name = from.value("name", std::string());
        run.note = from.value("note", std::string());
        run.imported = from.value("imported", false);
        QS_TRY(run.recipe, recipeIn(from, "recipe"));
        if (from.contains("numbers"))
            run.numbers = numbersOf(from["numbers"]);
        runs.push_back(std::move(run));
    }
    const RunId current = runIdAt(json, "current_run");
    replacePaths(runs, current);
    return RunTree::of(std::move(runs), current);
}

ProjectJson recoveryJson(const Recovery& recovery, const Paths& paths, StepPatches* known)
{
    ProjectJson json { { "project", paths.stored(recovery.project) } };
    StepPatches none;
    if (!recovery.steps.empty())
        json["undo"] = ProjectJson::parse(stepsToJson(recovery.steps, known ? *known : none));
    return json;
}

Result<Recovery> recoveryOf(const ProjectJson& json, const Paths& paths)
{
    Recovery recovery;
    recovery.project = paths.used(json.value("project", std::string()));
    if (json.contains("undo")) {
        QS_TRY(recovery.steps, stepsOf(json["undo"]));
    }
    return recovery;
}

Result<Project> projectOf(const ProjectJson& json, const Paths& paths)
{
    Project project;
    QS_TRY(project.inputs, inputsOf(json.value("inputs", ProjectJson::object()), paths));
    QS_TRY(project.inputs.recipe, recipeIn(json, "recipe"));
    const ProjectJson base = json.value("base", ProjectJson::object());
    QS_TRY(project.base.recipe, recipeIn(base, "recipe"));
    for (ValueOrigin origin : kBases)
        if (base.value("origin", std::string()) == valueOriginName(origin))
            project.base.origin = origin;
    project.otherwise = base.value("otherwise", std::vector<std::string>());
    QS_TRY(project.runs, runsOf(json));
    project.layout = json.value("layout", std::string());
    for (const ProjectJson& file : json.value("files", ProjectJson::array()))
        project.files[paths.used(file.value("path", std::string()))] = FileMark { naturalAt(file, "bytes"),
            file.contains("modified") ? wholeOf(file["modified"]) : 0, file.value("hash", std::string()) };
    if (json.contains("undo"))
        if (auto steps = stepsOf(json["undo"])) // the work is all there without them
            project.steps = *std::move(steps);
    if (json.contains("recovery")) {
        QS_TRY(project.recovery, recoveryOf(json["recovery"], paths));
    }
    return project;
}

struct Look {
    FileMark mark; ///< without its hash
    bool regular = false;
};

/// nullopt: it is gone, or nobody may look at it. Issue: the disk does not say.
Result<std::optional<Look>> lookAt(const std::string& path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found || error == std::errc::permission_denied)
        return std::optional<Look>();
    Look look;
    look.regular = fs::is_regular_file(status);
    if (!error) {
        const auto time = fs::last_write_time(path, error);
        look.mark.modified = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
    }
    if (!error && look.regular)
        look.mark.bytes = fs::file_size(path, error);
    if (error)
        return badInput("cannot be looked at: " + error.message(), path, "check the disk");
    return std::optional(look);
}

std::vector<std::string> namedFiles(const Inputs& inputs)
{
    std::vector<std::string> paths;
    for (const std::string* path : { &inputs.floatPath, &inputs.quantPath, &inputs.data.spec, &inputs.data.preprocess,
             &inputs.calibration.spec, &inputs.calibration.preprocess, &inputs.rangesPath, &inputs.classNamesPath,
             &inputs.mapPath, &inputs.other.path })
        if (!path->empty() && !path->starts_with("random:"))
            paths.push_back(*path);
    return paths;
}

} // namespace

Status markFiles(Project& project)
{
    std::map<std::string, FileMark> marks;
    for (const std::string& path : namedFiles(project.inputs)) {
        QS_TRY(const auto look, lookAt(path));
        if (!look)
            continue;
        FileMark now = look->mark;
        const auto before = project.files.find(path);
        const bool same = before != project.files.end() && before->second.bytes == now.bytes
            && before->second.modified == now.modified;
        if (same) {
            now.hash = before->second.hash;
        } else if (look->regular) {
            QS_TRY(const Hash128 hash, hashFile(path, "open it again"));
            now.hash = hash.hex();
        }
        marks.emplace(path, now);
    }
    project.files = std::move(marks);
    return {};
}

std::vector<Issue> changedFiles(const Project& project)
{
    std::vector<Issue> changed;
    for (const auto& [path, mark] : project.files) {
        const auto look = lookAt(path);
        if (!look) {
            changed.push_back(badInput(look.issue().what, path));
            continue;
        }
        if (!*look) {
            changed.push_back(badInput("is gone since the project was saved", path));
            continue;
        }
        const FileMark& now = (*look)->mark;
        if (mark.hash.empty() || (now.bytes == mark.bytes && now.modified == mark.modified))
            continue;
        const auto hash = hashFile(path, {});
        if (!hash)
            changed.push_back(badInput(hash.issue().what, path));
        else if (hash->hex() != mark.hash)
            changed.push_back(badInput("has changed since the project was saved", path));
    }
    return changed;
}

std::string projectToJson(const Project& project, const std::string& path, StepPatches* known)
{
    const Paths paths(path);
    ProjectJson files = ProjectJson::array();
    for (const auto& [file, mark] : project.files)
        files.push_back({ { "path", paths.stored(file) }, { "bytes", mark.bytes }, { "modified", mark.modified },
            { "hash", mark.hash } });
    ProjectJson json { { "schema_version", kProjectVersion }, { "inputs", inputsJson(project.inputs, paths) },
        { "files", std::move(files) }, { "recipe", recipeJson(project.inputs.recipe.value_or(project.base.recipe)) },
        { "base",
            { { "origin", std::string(valueOriginName(project.base.origin)) },
                { "recipe", recipeJson(project.base.recipe) } } },
        { "runs", runsJson(project.runs) }, { "current_run", project.runs.current() }, { "layout", project.layout } };
    if (!project.otherwise.empty())
        json["base"]["otherwise"] = project.otherwise;
    StepPatches patches;
    if (const SavedSteps near = nearestSteps(project.steps, kMostStepBytes, patches); !near.empty())
        json["undo"] = ProjectJson::parse(stepsToJson(near, patches));
    if (project.recovery)
        json["recovery"] = recoveryJson(*project.recovery, paths, known);
    return json.dump(1, ' ', false, ProjectJson::error_handler_t::replace) + "\n";
}

Result<Project> projectFromJson(const std::string& text, const std::string& path)
{
    const std::string remedy = "give a file that was saved as a project";
    const auto read = readJson(text);
    if (!read)
        return badInput("is no project of this program: it " + read.issue().what, path, remedy);
    const ProjectJson& json = *read;
    if (!json.is_object() || !json.contains("schema_version"))
        return badInput("is no project of this program", path, remedy);
    if (json["schema_version"] != kProjectVersion)
        return badInput("has schema_version " + json["schema_version"].dump() + ", which this version cannot read",
            path, "use a newer version of this program");
    try {
        auto project = projectOf(json, Paths(path));
        if (project)
            return project;
        Issue issue = std::move(project).issue();
        issue.file = path;
        return issue;
    } catch (const ProjectJson::exception&) { // a value of another type
        return badInput("is damaged: a value has another type than projects have", path, remedy);
    }
}

Status writeProject(const Project& project, const std::string& path, StepPatches* known)
{
    return writeFile(path, projectToJson(project, path, known));
}

Result<Project> readProject(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, "give the path of a project"));
    return projectFromJson(text, path);
}

} // namespace qs
