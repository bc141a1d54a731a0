// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/gates.h"

#include "core/gate/gate_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

namespace qs::cli {

namespace {

constexpr size_t kToldOnStderr = 5; ///< misses that the one line there names

Status addLimit(Gates& gates, GateRule rule, const char* option, const std::optional<double>& value)
{
    if (!value)
        return {};
    if (const auto wanted = faultOf(rule, *value))
        return badUse(fmt::format("{} is not {}", option, *wanted), "give a number such as 1 or 0.5");
    gates.outputs.push_back({ rule, *value, option });
    return {};
}

} // namespace

void addGates(CLI::App& command, GateOptions& g)
{
    command.add_option("--fail-below-sqnr", g.minSqnrDb, "exit 1 when an output is below this, dB");
    command.add_option("--max-accuracy-drop", g.maxAccuracyDrop,
        "exit 1 when the accuracy falls by more than this, float minus quantized in percentage points; needs labels");
    command.add_option("--min-top1", g.minTop1,
        "exit 1 when the share of samples with the float model's class (0 to 1) is below this at an output");
    command.add_option("--gate", g.file,
        "exit 1 when the comparison misses a limit of this file (TOML): [outputs] min_sqnr_db, max_accuracy_drop, "
        "min_top1; [[tensors]] name, min_sqnr_db; [findings] fail_on, ignore; [baseline] file, max_loss_db. Limits of "
        "options hold too (docs/ci.md)");
}

Result<Gates> gatesOf(const GateOptions& o)
{
    Gates gates;
    QS_CHECK(addLimit(gates, GateRule::OutputSqnr, "--fail-below-sqnr", o.minSqnrDb));
    QS_CHECK(addLimit(gates, GateRule::AccuracyDrop, "--max-accuracy-drop", o.maxAccuracyDrop));
    QS_CHECK(addLimit(gates, GateRule::Top1, "--min-top1", o.minTop1));
    if (o.file.empty())
        return gates;
    QS_TRY(Gates read, readGateFile(o.file));
    read.outputs.insert(read.outputs.begin(), gates.outputs.begin(), gates.outputs.end());
    return read;
}

void addFilesOf(FileRoles& files, const Gates& gates)
{
    files.reads(gates.path, "the gate file");
    if (gates.baseline)
        files.reads(gates.baseline->path, "the baseline");
}

int tellGates(const Judgement& judgement, bool documentOnStdout)
{
    std::vector<std::string> missed;
    for (const GateCheck& check : judgement.checks) {
        const bool said
            = check.verdict == GateVerdict::Missed || (check.verdict == GateVerdict::NotJudged && !check.finding);
        if (said && !documentOnStdout)
            std::cout << nameIn(kVerdicts, check.verdict) << ": " << check.sentence << '\n';
        if (check.verdict == GateVerdict::Missed)
            missed.push_back(check.sentence);
    }
    std::cout.flush();
    if (missed.empty())
        return kDone;
    const size_t more = missed.size() - std::min(missed.size(), kToldOnStderr);
    missed.resize(missed.size() - more);
    std::cerr << "error: " << fmt::format("{}", fmt::join(missed, "; "))
              << (more > 0 ? fmt::format("; and {} more", more) : "") << "; see the findings\n";
    return kThresholdMissed;
}

} // namespace qs::cli
