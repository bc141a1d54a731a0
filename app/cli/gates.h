// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include "core/gate/judge.h"

namespace qs::cli {

/// What the quantized model has to keep, as given.
struct GateOptions {
    std::optional<double> minSqnrDb, maxAccuracyDrop, minTop1;
    std::string file;
};
void addGates(CLI::App& command, GateOptions& options);
/// Before any work: the limits of the options and of the gate file. Issues: numbers that cannot be meant, a faulty
/// file.
Result<Gates> gatesOf(const GateOptions& options);
void addFilesOf(FileRoles& files, const Gates& gates);
/// Says what was missed, on stdout unless that carries a document; the exit code.
int tellGates(const Judgement& judgement, bool documentOnStdout);

} // namespace qs::cli
