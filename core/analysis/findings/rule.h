// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace qs {

enum class Severity { Error, Warning, Note };
std::string_view severityName(Severity severity);

/// What a finding is about. Each has its entry in the table of rule.cpp, in this order, and a paragraph in
/// docs/metrics.md; the function that looks for it stands in core/analysis/rules.
enum class Rule {
    ModelsDiffer,
    ValueOverflows,
    ActivationLost,
    WeightsDiffer,
    WeightsTooCoarse,
    RangeTooSmall,
    RangeTooLarge,
    SymmetricOnSkewed,
    RangeVaries,
    InputMismatch,
    CalibrationSet,
    ChannelImbalance,
    Outliers,
    WrongZeroPoint,
    WrongBiasScale,
    ScaleMismatchAtJoin,
    ExtremeConstant,
    BrokenScale,
    MovesOtherwise,
    SensitiveOperator,
    SaturatingAccumulation,
    ImplementationDiffers,
    RuntimeRejects,
    SlowForm,
    RequantizationPingPong,
    SplitProduct,
    LeftInFloat,
    AccuracyDrop,
    DataSensitive,
    DataInsensitive,
    Inherited,
    Unmatched,
};

/// What is said of the findings of a rule, in English.
struct RuleInfo {
    Rule rule;
    std::string_view id; ///< in files: "range_too_small"
    Severity severity; ///< unless the numbers say otherwise
    std::string_view title; ///< {} = the place; empty: it depends on the numbers
    std::string_view explanation; ///< what the rule looks at, and what it means
    std::string_view remedy; ///< an imperative sentence; {} = the place; empty: it depends on the numbers
};

std::span<const RuleInfo> ruleTable(); ///< by rule
const RuleInfo& ruleInfo(Rule rule);
inline std::string_view ruleId(Rule rule) { return ruleInfo(rule).id; }
std::string ruleTitle(Rule rule, std::string_view place);
std::string ruleRemedy(Rule rule, std::string_view place);

} // namespace qs
