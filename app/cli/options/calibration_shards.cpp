// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options/calibration_shards.h"

#include "core/project/quantize/sharded_calibration.h"

#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace qs::cli {

void addCalibrationShards(CLI::App& app, CalibrationShards& o)
{
    app.add_option("--shard", o.shard,
        "I/N: calibrate with this part of the samples alone, and write what it found to --state; with --calibrated it "
        "counts the histograms of a second round");
    app.add_option("--state", o.state, "state file of the shard");
    app.add_option("--calibrated", o.calibrated,
        "state files of all shards, of one round or both: their calibration, equal in every bit to one of all samples; "
        "with --data and --calibration-cache it is kept in that file, too");
}

void addFilesOf(FileRoles& files, const CalibrationShards& o)
{
    for (const std::string& path : o.calibrated)
        files.reads(path, "the state of a shard");
    files.writes(o.state, "the state of the shard");
}

Status writePart(const CalibrationShards& o, const Shard& shard, const QuantizeInputs& inputs,
    const std::vector<std::string>& warnings, const WorkContext& work, const CommonOptions& common)
{
    QS_TRY(const CalibrationPart part, calibratePart(inputs, shard.index, shard.count, o.calibrated, work));
    clearProgress(common);
    printWarnings(warnings, common);
    const bool more = !part.extremes && needsSecondRound(inputs.recipe);
    QS_CHECK(writeFile(o.state, calibrationPartBytes(part)));
    const nlohmann::ordered_json json = { { "schema_version", 1 }, { "state", o.state }, { "shard", shard.index },
        { "shards", shard.count }, { "round", part.extremes ? 2 : 1 }, { "needs_second_round", more },
        { "tensors", part.data.tensors.size() }, { "warnings", warnings } };
    if (!common.json.empty())
        QS_CHECK(writeOutput(
            common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    if (common.json != "-" && !common.quiet)
        std::cout << fmt::format("{}: {} of {} tensors in shard {} of {}{}\n", o.state,
            part.extremes ? "counts" : "extremes", part.data.tensors.size(), shard.index, shard.count,
            more ? "; this method takes a second round, by --calibrated" : "");
    return {};
}

} // namespace qs::cli
