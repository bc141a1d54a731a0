// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/model_commands.h"

#include <array>

namespace qs::test {

namespace {

constexpr std::array<const char*, 3> kProfiles { "simulated", "integer", "integer-avx2" };
constexpr std::array<const char*, 4> kFormats { "qdq", "qoperator", "dynamic", "weight-only" };

std::string arithmetic(ModelMutator& random) { return kProfiles[random.below(kProfiles.size())]; }

Arguments drawnRecipe(ModelMutator& random)
{
    static constexpr std::array kMethods { "minmax", "percentile", "entropy", "mse", "moving-average" };
    static constexpr std::array kFlags { "--per-channel", "--reduce-range", "--symmetric-activations",
        "--preprocess-graph", "--equalize", "--bias-correction", "--adaround", "--smooth-quant", "--ort-defaults" };
    Arguments options { "--format", kFormats[random.below(kFormats.size())] };
    if (random.below(2) == 0)
        options = options + Arguments { "--method", kMethods[random.below(kMethods.size())] };
    for (const char* flag : kFlags)
        if (random.below(5) == 0)
            options.emplace_back(flag);
    return options;
}

onnx::ModelProto parsed(const std::string& bytes)
{
    onnx::ModelProto proto;
    proto.ParseFromString(bytes);
    return proto;
}

/// Its first element, by as many axes as it may have.
Arguments element(const std::string& tensor, size_t axes, size_t first = 0)
{
    std::string at = std::to_string(first);
    while (--axes > 0)
        at += ",0";
    return { "--tensor", tensor, "--at", at };
}

Arguments drawnElement(const std::string& bytes, ModelMutator& random)
{
    const onnx::ModelProto proto = parsed(bytes);
    const auto& nodes = proto.graph().node();
    std::string name = "y";
    if (!nodes.empty())
        if (const auto& node = nodes[static_cast<int>(random.below(size_t(nodes.size())))]; node.output_size() > 0)
            name = node.output(0);
    return element(name, 1 + random.below(4), random.below(3) == 0 ? 1 : 0);
}

Arguments reports(const FuzzFolder& folder)
{
    return { "--json", folder.path("c.json"), "--html", folder.path("c.html"), "--csv", folder.path("c.csv") };
}

} // namespace

Arguments samplesFor(const std::string& model)
{
    Arguments options { "--data", "random:2" };
    const onnx::ModelProto proto = parsed(model);
    for (const auto& input : proto.graph().input()) {
        std::string sizes;
        bool open = false;
        for (const auto& dim : input.type().tensor_type().shape().dim()) {
            sizes += (sizes.empty() ? "" : "x") + std::to_string(dim.has_dim_value() ? dim.dim_value() : 2);
            open = open || !dim.has_dim_value();
        }
        if (open)
            options = options + Arguments { "--shape", input.name() + '=' + sizes };
    }
    return options;
}

std::vector<Arguments> drawnCommands(const ModelFiles& files, const FuzzFolder& folder, ModelMutator& random)
{
    const bool pair = !files.quantized.empty();
    std::vector<Arguments> all { { "info", files.asked(), "--json", folder.path("info.json") } };
    all.push_back(Arguments { "run", files.asked(), "--all-tensors", "--out", folder.path("all.npz"), "--arithmetic",
                      arithmetic(random) }
        + files.data);
    all.push_back(Arguments { "quantize", files.floats, "-o", folder.path("out.onnx") }
        + (pair ? Arguments { "--like", files.quantized } : drawnRecipe(random) + files.data));
    all.push_back(Arguments { "compare", files.floats } + (pair ? Arguments { files.quantized } : drawnRecipe(random))
        + files.data + reports(folder) + Arguments { "--arithmetic", arithmetic(random) });
    all.push_back(
        Arguments { "explain", files.asked(), "--arithmetic", arithmetic(random), "--json", folder.path("e.json") }
        + drawnElement(bytesOf(files.asked()), random) + files.data
        + (files.damagedQuantized ? Arguments { "--float", files.floats } : Arguments {}));
    all.push_back(
        Arguments { "sensitivity", files.floats, "--json", folder.path("s.json") } + drawnRecipe(random) + files.data);
    all.push_back(Arguments { "caches", files.floats, "--json", folder.path("c.json") } + files.data);
    all.push_back(Arguments { "prepare", files.floats, "-o", folder.path("p.onnx") } + files.data);
    return all;
}

std::vector<Arguments> everyCommand(const ModelFiles& files, const FuzzFolder& folder)
{
    const bool pair = !files.quantized.empty();
    std::vector<Arguments> all { { "info", files.asked(), "--json", folder.path("info.json") } };
    const onnx::ModelProto proto = parsed(bytesOf(files.asked()));
    for (const char* profile : kProfiles) {
        const Arguments by = Arguments { "--arithmetic", profile } + files.data;
        all.push_back(Arguments { "run", files.asked(), "--all-tensors", "--out", folder.path("all.npz") } + by);
        for (const auto& node : proto.graph().node())
            if (node.output_size() > 0 && all.size() < 20)
                all.push_back(Arguments { "explain", files.asked(), "--json", folder.path("e.json") }
                    + element(node.output(0), 2) + by
                    + (files.damagedQuantized ? Arguments { "--float", files.floats } : Arguments {}));
        if (pair)
            all.push_back(Arguments { "compare", files.floats, files.quantized } + by + reports(folder));
    }
    if (pair)
        all.push_back({ "quantize", files.floats, "-o", folder.path("out.onnx"), "--like", files.quantized });
    for (const char* format : kFormats) {
        const Arguments by = Arguments { "--format", format, "--preprocess-graph" } + files.data;
        all.push_back(Arguments { "quantize", files.floats, "-o", folder.path("out.onnx") } + by);
        all.push_back(Arguments { "compare", files.floats, "--arithmetic", "integer" } + by + reports(folder));
    }
    all.push_back(Arguments { "quantize", files.floats, "-o", folder.path("out.onnx"), "--equalize",
                      "--bias-correction", "--adaround", "--smooth-quant" }
        + files.data);
    all.push_back(Arguments { "prepare", files.floats, "-o", folder.path("p.onnx") } + files.data);
    return all;
}

} // namespace qs::test
