// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

namespace qs::cli {

std::vector<std::pair<CLI::App*, Command>> addCommands(CLI::App& app, Context& context)
{
    std::vector<std::pair<CLI::App*, Command>> commands;
    const auto command = [&](Command (*add)(CLI::App&, Context&), const char* name, const char* purpose) {
        CLI::App* sub = app.add_subcommand(name, purpose);
        commands.emplace_back(sub, add(*sub, context));
    };
    command(addInfo, "info", "what a model file contains");
    command(addRun, "run", "run a model on data");
    command(addCompare, "compare", "compare a float model with its quantized counterpart");
    command(addExplain, "explain", "where one element of a tensor comes from, term by term");
    command(addLesson, "lesson", "learn quantization, and check lessons of your own");
    command(addMerge, "merge", "add up the shards of a comparison");
    command(addConformance, "conformance", "run ONNX's backend tests");
    command(addPrepare, "prepare", "fold and fuse a float model before it is quantized, proved pass by pass");
    command(addQuantize, "quantize", "write a quantized model");
    command(addSensitivity, "sensitivity", "what each node, tensor or operator type costs when it is quantized");
    command(addCaches, "caches", "keys and values that a language model remembers: ranges, loss as codes, scales");
    command(addMcp, "mcp", "serve an agent: the same work over the Model Context Protocol on stdin and stdout");
    command(addBench, "bench", "how long a run of a model takes");
    command(addKernels, "kernels", "which kernels this build has and this CPU runs");
    command(addCompletion, "completion", "completion of commands and options for a shell");
    return commands;
}

} // namespace qs::cli
