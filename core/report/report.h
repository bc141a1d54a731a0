// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"
#include "core/analysis/lab/element_differences.h"
#include "core/analysis/lab/ladder.h"
#include "core/analysis/lab/weight_lab.h"
#include "core/data/tokens/token_words.h"
#include "core/project/about/file_facts.h"
#include "core/project/arithmetic/saturation_lab.h"
#include "core/project/snapshot/snapshot.h"

#include <cstdint>
#include <string>

namespace qs {

/// What a report says beside the snapshot.
struct ReportInfo {
    uint64_t peakMemoryBytes = 0;
    bool verbose = false; ///< tables: all rows
    /// Where two quantized files are compared: the first one against the same float model; the snapshot is the second.
    const Snapshot* other = nullptr;
    const Ladder* ladder = nullptr; ///< from a framework's values to a device's
    const std::vector<FileFacts>* files = nullptr; ///< the models side by side
    const ElementDifferences* elements = nullptr; ///< of the other from the snapshot's, else of the two files
    const SaturationLab* saturationLab = nullptr; ///< JSON
    const TokenBlame* blame = nullptr;
    const TokenWords* words = nullptr; ///< how tokens are written; null: unknown
    /// JSON and HTML: of the snapshot's weights, and of the other's.
    const WeightLaboratory *laboratory = nullptr, *otherLaboratory = nullptr;
};

/// The snapshot must hold a comparison. Formats are those of the command line contract.
std::string compareJson(const Snapshot& snapshot, const ReportInfo& info);
std::string compareCsv(const Snapshot& snapshot);
/// For a terminal: outputs, accuracy, findings, worst tensors first.
std::string compareTable(const Snapshot& snapshot, const ReportInfo& info);
/// One self-contained page with graph, chart and tables.
std::string compareHtml(const Snapshot& snapshot, const ReportInfo& info);

} // namespace qs
