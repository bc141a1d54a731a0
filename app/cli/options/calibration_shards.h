// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options/options.h"
#include "core/project/quantize/quantization.h"

#include <CLI/CLI.hpp>

namespace qs::cli {

/// How a calibration is done in parts.
struct CalibrationShards {
    std::string shard, state;
    std::vector<std::string> calibrated; ///< state files
    bool onePart() const { return !shard.empty() || !state.empty(); }
};

void addCalibrationShards(CLI::App& app, CalibrationShards& o);
void addFilesOf(FileRoles& files, const CalibrationShards& o);
/// Calibrates one part of the inputs' data, and writes its state file and what --json asks for.
Status writePart(const CalibrationShards& o, const Shard& shard, const QuantizeInputs& inputs,
    const std::vector<std::string>& warnings, const WorkContext& work, const CommonOptions& common);

} // namespace qs::cli
