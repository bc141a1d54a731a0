// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/gates.h"

#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr auto kGateRules = std::to_array<GateRuleInfo>({
    { GateRule::OutputSqnr, GateSuite::Outputs, "min_sqnr_db", "gate.outputs.min_sqnr_db", "SQNR of an output",
        "The signal-to-quantization-noise ratio of each graph output, in dB, must not be below the limit." },
    { GateRule::AccuracyDrop, GateSuite::Outputs, "max_accuracy_drop", "gate.outputs.max_accuracy_drop",
        "Fall of the accuracy",
        "The accuracy of the float model minus that of the quantized one, in percentage points, must not be above the "
        "limit." },
    { GateRule::Top1, GateSuite::Outputs, "min_top1", "gate.outputs.min_top1", "Top-1 agreement of an output",
        "The share of samples with the float model's class must not be below the limit." },
    { GateRule::TensorSqnr, GateSuite::Tensors, "min_sqnr_db", "gate.tensors.min_sqnr_db", "SQNR of a tensor",
        "The signal-to-quantization-noise ratio of each tensor that the pattern names, in dB, must not be below the "
        "limit." },
    { GateRule::FailOn, GateSuite::Findings, "fail_on", "gate.findings.fail_on", "Findings",
        "There must be no finding of this severity or a worse one, but for rules that are ignored." },
    { GateRule::Loss, GateSuite::Baseline, "max_loss_db", "gate.baseline.max_loss_db", "Loss against the baseline",
        "No output, tensor or weight may lose more dB than the limit against the baseline." },
});

} // namespace

std::span<const GateRuleInfo> gateRuleTable() { return kGateRules; }

const GateRuleInfo& gateRuleInfo(GateRule rule) { return kGateRules[static_cast<size_t>(rule)]; }

std::optional<std::string> faultOf(GateRule rule, double value)
{
    constexpr double kAllPoints = 100;
    if (rule == GateRule::Top1)
        return value >= 0 && value <= 1 ? std::nullopt : std::optional<std::string>("a share from 0 to 1");
    if (rule == GateRule::AccuracyDrop)
        return std::fabs(value) <= kAllPoints ? std::nullopt
                                              : std::optional<std::string>("a number of percentage points");
    if (rule == GateRule::Loss)
        return std::isfinite(value) && value >= 0 ? std::nullopt
                                                  : std::optional<std::string>("a finite number of dB from 0 on");
    return std::isfinite(value) ? std::nullopt : std::optional<std::string>("a finite number of dB");
}

} // namespace qs
