// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/compare_pair.h"

namespace qs {

/// Runs the quantized file as ONNX Runtime does with exact sums, and with those that CPUs without VNNI cut off in 16
/// bits, on the first of these samples. Nothing where no stored weight is large enough for that, or it cannot be run.
std::optional<CpuSums> measureCpuSums(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work = {});

} // namespace qs
