// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/rule.h"
#include "core/base/named_values.h"
#include "core/gate/baseline.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The kinds of checks, as reports divide them.
enum class GateSuite { Outputs, Tensors, Findings, Baseline };
inline constexpr NamedValues<GateSuite, 4> kGateSuites { { { GateSuite::Outputs, "outputs" },
    { GateSuite::Tensors, "tensors" }, { GateSuite::Findings, "findings" }, { GateSuite::Baseline, "baseline" } } };

enum class GateRule { OutputSqnr, AccuracyDrop, Top1, TensorSqnr, FailOn, Loss };

struct GateRuleInfo {
    GateRule rule;
    GateSuite suite;
    std::string_view key; ///< in the gate file: "min_sqnr_db"
    std::string_view id; ///< in reports: "gate.outputs.min_sqnr_db"
    std::string_view title, explanation;
};
std::span<const GateRuleInfo> gateRuleTable(); ///< by rule
const GateRuleInfo& gateRuleInfo(GateRule rule);

/// A limit of the outputs: OutputSqnr, AccuracyDrop or Top1.
struct OutputLimit {
    GateRule rule;
    double value; ///< dB; percentage points, float minus quantized; share
    std::string by; ///< who asks, to go on with in a sentence: "--min-top1", "min_top1 in gates.toml"
};

struct TensorLimit {
    std::string pattern; ///< core/base/name_pattern.h
    double minSqnrDb;
    int line; ///< of the gate file
};

struct FindingLimit {
    Severity failOn; ///< this severity and above
    std::vector<Rule> ignored;
};

struct BaselineLimit {
    std::string path;
    double maxLossDb;
    Baseline before;
};

/// What a comparison has to keep. All limits hold, whoever asks for them.
struct Gates {
    std::string path; ///< of the gate file; empty: none
    std::vector<OutputLimit> outputs;
    std::vector<TensorLimit> tensors;
    std::optional<FindingLimit> findings;
    std::optional<BaselineLimit> baseline;
    bool any() const { return !outputs.empty() || !tensors.empty() || findings || baseline; }
};

/// Whether a limit of the outputs can be meant; else what it has to be: "a share from 0 to 1".
std::optional<std::string> faultOf(GateRule rule, double value);

} // namespace qs
