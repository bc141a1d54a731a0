// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/project/about/model_info.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/report/json/info_json.h"

namespace qs {

namespace {

constexpr size_t kMostPorts = 16, kMostUnsupported = 5;

AgentJson modelJson(const std::optional<LoadedModel>& model)
{
    if (!model)
        return nullptr;
    AgentJson json = picked(infoJson(*model->model, modelInfo(*model)),
        { "path", "form", "nodes", "parameters", "inputs", "outputs", "unsupported" });
    shorten(json, "inputs", kMostPorts);
    shorten(json, "outputs", kMostPorts);
    shorten(json, "unsupported", kMostUnsupported);
    return json;
}

/// "" stays "".
Result<std::string> fileArgument(const AgentDesk& desk, const ToolArguments& a, const char* name)
{
    if (a.text(name).empty())
        return std::string();
    return desk.folders().existing(a.text(name));
}

Result<std::string> dataArgument(const AgentDesk& desk, const ToolArguments& a, const char* name)
{
    if (a.text(name).starts_with("random:"))
        return a.text(name);
    QS_TRY(std::string path, fileArgument(desk, a, name));
    QS_CHECK(desk.folders().checkBelow(path));
    return path;
}

Result<std::optional<Recipe>> recipeArgument(AgentDesk& desk, const ToolArguments& a)
{
    if (!a.has("recipe") && !a.has("recipe_file"))
        return std::optional<Recipe>();
    if (a.has("recipe") && a.has("recipe_file"))
        return badUse("recipe and recipe_file both say the recipe", "give one of them");
    if (a.has("quantized"))
        return badUse("a quantized file is given, so a recipe has no meaning", "leave one of them out");
    std::optional<Recipe> recipe;
    if (a.has("recipe")) {
        auto read = recipeOf(a.object("recipe"));
        if (!read.ok())
            return badUse("the recipe " + read.issue().what, read.issue().remedy);
        recipe = *read;
    } else {
        QS_TRY(const std::string path, desk.folders().existing(a.text("recipe_file")));
        QS_TRY(recipe, readRecipe(path));
        desk.alsoRead(path, "the recipe");
    }
    return recipe;
}

Result<DataRequest> dataRequest(const AgentDesk& desk, const ToolArguments& a)
{
    DataRequest request;
    QS_TRY(request.spec, dataArgument(desk, a, "data"));
    QS_TRY(request.preprocess, fileArgument(desk, a, "preprocess"));
    if (a.has("limit"))
        request.limit = size_t(a.whole("limit", 1));
    if (a.has("seed"))
        request.seed = uint64_t(a.whole("seed", 0));
    if (a.has("shapes"))
        for (const auto& [name, sizes] : a.object("shapes").items())
            request.shapes[name] = sizes.get<Shape>();
    return request;
}

/// The samples that ranges are found with; those of `data` where nothing is said.
Result<DataRequest> calibrationRequest(const AgentDesk& desk, const ToolArguments& a, DataRequest data)
{
    QS_TRY(data.spec, dataArgument(desk, a, "calibration_data"));
    if (data.spec.empty() && a.has("calibration_limit"))
        return badUse("calibration_limit counts the samples of calibration_data, which is not given", "give it, too");
    if (data.spec.empty())
        return DataRequest {};
    data.limit.reset();
    if (a.has("calibration_limit"))
        data.limit = size_t(a.whole("calibration_limit", 1));
    return data;
}

Result<Inputs> inputsOf(AgentDesk& desk, const ToolArguments& a)
{
    Inputs inputs;
    static_cast<RunSettings&>(inputs) = desk.settings();
    QS_TRY(inputs.floatPath, desk.folders().existing(a.text("float")));
    QS_TRY(inputs.quantPath, fileArgument(desk, a, "quantized"));
    QS_TRY(inputs.recipe, recipeArgument(desk, a));
    QS_TRY(inputs.data, dataRequest(desk, a));
    QS_TRY(inputs.calibration, calibrationRequest(desk, a, inputs.data));
    QS_TRY(inputs.rangesPath, fileArgument(desk, a, "ranges"));
    inputs.profile = profileOfName(a.text("arithmetic", "simulated")).value_or(ArithmeticProfile::Simulated);
    if (inputs.recipe)
        QS_CHECK(checkCodesFile(desk.folders(), *inputs.recipe, inputs.floatPath));
    return inputs;
}

Result<AgentJson> open(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(Inputs inputs, inputsOf(desk, a));
    QS_TRY(AgentSession* const session, desk.open(std::move(inputs), work));
    const Snapshot& models = *session->models();
    AgentJson json = headerOf(desk, *session);
    json["float"] = modelJson(models.floatFile);
    json["quantized"] = modelJson(models.quantFile);
    json["recipe"] = a.has("quantized") ? "none: the quantized file as it lies there"
        : a.has("recipe")               ? "as given"
        : a.has("recipe_file")          ? a.text("recipe_file")
                                        : "preset quantscope";
    json["data"] = nullptr;
    if (models.data)
        json["data"] = { { "samples", models.data->samples() }, { "labels", !models.data->labels().empty() } };
    json["arithmetic"] = profileName(models.inputs.profile);
    json["warnings"] = warningsJson(models.warnings);
    json["next"] = models.data ? "compare" : "open again with data, which compare needs";
    return json;
}

} // namespace

std::vector<AgentTool> openTools()
{
    using enum ArgumentKind;
    AgentTool tool { .name = "open",
        .title = "Open models",
        .help = "Opens a float ONNX model, with its quantized counterpart or a recipe that makes one, and samples. "
                "Begins a session, whose name every other tool takes. Nothing is run yet.",
        .call = open };
    tool.arguments = {
        { .name = "float",
            .help = "path of the float model (alone also a quantized one, to explain it)",
            .required = true },
        { .name = "quantized",
            .help = "path of the quantized model; without it a recipe makes one of the float model" },
        { .name = "data",
            .help = "samples: FILE.npz, FILE.npy, a folder of ONNX test data or of images, or random:N[:SEED]" },
        { .name = "limit", .kind = Whole, .help = "use the first so many samples", .least = 1 },
        { .name = "preprocess", .help = "path of the JSON that says how pictures become inputs" },
        { .name = "shapes", .kind = Sizes, .help = "sizes of dynamic inputs for random data: {\"x\": [1, 3, 8, 8]}" },
        { .name = "seed", .kind = Whole, .help = "seed of random data" },
        { .name = "recipe",
            .kind = Object,
            .help = "recipe as in a recipe file; {} is ONNX Runtime's defaults, {\"preset\": \"quantscope\"} this "
                    "program's, which holds without it" },
        { .name = "recipe_file", .help = "path of a recipe file" },
        { .name = "calibration_data", .help = "samples to find ranges with; without it those of data" },
        { .name = "calibration_limit", .kind = Whole, .help = "use the first so many of them", .least = 1 },
        { .name = "ranges", .help = "path of a file of ranges to take in place of calibrating" },
        { .name = "arithmetic",
            .help = "how the quantized model is computed (default simulated: the file as written)",
            .words = { kProfileNames.begin(), kProfileNames.end() } },
    };
    return { tool };
}

} // namespace qs
