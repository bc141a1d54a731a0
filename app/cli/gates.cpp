// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/gates.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

namespace qs::cli {

namespace {

constexpr double kPoints = 100; ///< of a share
constexpr double kRounding = 1e-9; ///< points: 0.97 - 0.96 is not quite 0.01

/// A NaN at an output is no agreement, whatever the other elements say.
bool below(const OutputRow& out, double db)
{
    return !out.similarity.exact && (!out.similarity.sqnrDb || *out.similarity.sqnrDb < db);
}

void checkSqnr(const Comparison& c, double db, std::vector<std::string>& missed)
{
    for (const OutputRow& out : c.outputs)
        if (below(out, db))
            missed.push_back(
                fmt::format("output {} has {} dB, below the {} dB asked for by --fail-below-sqnr", out.name,
                    out.similarity.sqnrDb ? fmt::format("{:.2f}", *out.similarity.sqnrDb) : std::string("no number of"),
                    db));
}

Status checkAccuracy(const Comparison& c, double points, std::vector<std::string>& missed)
{
    if (!c.accuracy)
        return badInput("--max-accuracy-drop needs an accuracy, but the data have no labels", {},
            "add an integer array 'labels' with one class a sample, or use --min-top1");
    const double drop = (c.accuracy->floatAccuracy - c.accuracy->quantizedAccuracy) * kPoints;
    if (drop > points + kRounding)
        missed.push_back(
            fmt::format("accuracy falls by {:.4g} points, from {:.4g} % to {:.4g} %, more than the {} allowed by "
                        "--max-accuracy-drop",
                drop, c.accuracy->floatAccuracy * kPoints, c.accuracy->quantizedAccuracy * kPoints, points));
    return {};
}

Status checkTop1(const Comparison& c, double share, std::vector<std::string>& missed)
{
    bool any = false;
    for (const OutputRow& out : c.outputs) {
        if (!out.top1Agreement)
            continue;
        any = true;
        if (*out.top1Agreement < share)
            missed.push_back(
                fmt::format("output {} has a top-1 agreement of {:.4g}, below the {} asked for by --min-top1", out.name,
                    *out.top1Agreement, share));
    }
    if (!any)
        return badInput("--min-top1 needs an output with several classes, but no output has a top-1 agreement", {},
            "use --fail-below-sqnr");
    return {};
}

} // namespace

void addGates(CLI::App& command, Gates& g)
{
    command.add_option("--fail-below-sqnr", g.minSqnrDb, "exit 1 when an output is below this, dB");
    command.add_option("--max-accuracy-drop", g.maxAccuracyDrop,
        "exit 1 when the accuracy falls by more than this, float minus quantized in percentage points; needs labels");
    command.add_option("--min-top1", g.minTop1,
        "exit 1 when the share of samples with the float model's class (0 to 1) is below this at an output");
}

Status checkGates(const Gates& g)
{
    if (g.minSqnrDb && !std::isfinite(*g.minSqnrDb))
        return badUse("--fail-below-sqnr is no finite number", "give a number of dB");
    if (g.maxAccuracyDrop && !(std::fabs(*g.maxAccuracyDrop) <= kPoints))
        return badUse("--max-accuracy-drop is no number of percentage points", "give a number such as 1 or 0.5");
    if (g.minTop1 && !(*g.minTop1 >= 0 && *g.minTop1 <= 1))
        return badUse("--min-top1 is no share from 0 to 1", "give a number such as 0.99");
    return {};
}

Result<std::vector<std::string>> missedGates(const Comparison& c, const Gates& g)
{
    std::vector<std::string> missed;
    if (g.minSqnrDb)
        checkSqnr(c, *g.minSqnrDb, missed);
    if (g.maxAccuracyDrop)
        QS_CHECK(checkAccuracy(c, *g.maxAccuracyDrop, missed));
    if (g.minTop1)
        QS_CHECK(checkTop1(c, *g.minTop1, missed));
    return missed;
}

int tellGates(const std::vector<std::string>& missed, bool documentOnStdout)
{
    if (missed.empty())
        return kDone;
    if (!documentOnStdout)
        for (const std::string& line : missed)
            std::cout << "missed: " << line << '\n';
    std::cout.flush();
    std::cerr << "error: " << fmt::format("{}", fmt::join(missed, "; ")) << "; see the findings\n";
    return kThresholdMissed;
}

} // namespace qs::cli
