// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/options.h"

#include <functional>
#include <utility>
#include <vector>

namespace qs::cli {

/// Registers a command's options; the returned function runs it and gives the exit code, or an issue.
using Command = std::function<Result<int>(Context&)>;
Command addInfo(CLI::App& app, Context& context);
Command addRun(CLI::App& app, Context& context);
Command addCompare(CLI::App& app, Context& context);
Command addLesson(CLI::App& app, Context& context);
Command addMcp(CLI::App& app, Context& context);
Command addMerge(CLI::App& app, Context& context);
Command addBench(CLI::App& app, Context& context);
Command addExplain(CLI::App& app, Context& context);
Command addCompletion(CLI::App& app, Context& context);
Command addConformance(CLI::App& app, Context& context);
Command addKernels(CLI::App& app, Context& context);
Command addPrepare(CLI::App& app, Context& context);
Command addQuantize(CLI::App& app, Context& context);
Command addSensitivity(CLI::App& app, Context& context);
Command addCaches(CLI::App& app, Context& context);
/// All of them, as subcommands.
std::vector<std::pair<CLI::App*, Command>> addCommands(CLI::App& app, Context& context);

} // namespace qs::cli
