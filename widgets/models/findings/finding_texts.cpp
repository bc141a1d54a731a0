// SPDX-License-Identifier: GPL-3.0-or-later
// What rules and their evidence are called and mean, for people.
#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <utility>

namespace qs {

namespace {

enum class EvidenceKind { Plain, Share };

struct EvidenceLabel {
    const char* key;
    const char* label;
    EvidenceKind kind = EvidenceKind::Plain;
};

constexpr auto kEvidenceLabels = std::to_array<EvidenceLabel>({
    { "clipped_fraction", QT_TRANSLATE_NOOP("Evidence", "clipped"), EvidenceKind::Share },
    { "range_low", QT_TRANSLATE_NOOP("Evidence", "representable from") },
    { "range_high", QT_TRANSLATE_NOOP("Evidence", "representable to") },
    { "data_low", QT_TRANSLATE_NOOP("Evidence", "data from") },
    { "data_high", QT_TRANSLATE_NOOP("Evidence", "data to") },
    { "local_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR with this quantizer alone") },
    { "ideal_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR that its step allows") },
    { "sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR") },
    { "source_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR at the source") },
    { "per_channel_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR with scales per channel") },
    { "gain_db", QT_TRANSLATE_NOOP("Evidence", "to be gained") },
    { "used_codes", QT_TRANSLATE_NOOP("Evidence", "codes in use"), EvidenceKind::Share },
    { "range_ratio", QT_TRANSLATE_NOOP("Evidence", "largest over median channel range") },
    { "off_by_more_than_half_step", QT_TRANSLATE_NOOP("Evidence", "off by more than half a step"),
        EvidenceKind::Share },
    { "off_by_one", QT_TRANSLATE_NOOP("Evidence", "codes off by one"), EvidenceKind::Share },
    { "noise_share", QT_TRANSLATE_NOOP("Evidence", "share of the noise"), EvidenceKind::Share },
    { "saturated_pairs", QT_TRANSLATE_NOOP("Evidence", "saturated pairs"), EvidenceKind::Share },
    { "worst_channel_pairs", QT_TRANSLATE_NOOP("Evidence", "saturated in the worst channel"), EvidenceKind::Share },
    { "worst_channel", QT_TRANSLATE_NOOP("Evidence", "worst channel") },
    { "median_channel_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR of the median channel") },
    { "increase_db", QT_TRANSLATE_NOOP("Evidence", "increase") },
    { "mean_error", QT_TRANSLATE_NOOP("Evidence", "mean error") },
    { "max_abs_error", QT_TRANSLATE_NOOP("Evidence", "largest error") },
    { "zero_point", QT_TRANSLATE_NOOP("Evidence", "zero point") },
    { "fitting_zero_point", QT_TRANSLATE_NOOP("Evidence", "zero point that would fit") },
    { "peak_over_rms", QT_TRANSLATE_NOOP("Evidence", "peak over RMS") },
    { "bits_lost", QT_TRANSLATE_NOOP("Evidence", "bits lost") },
    { "width_ratio", QT_TRANSLATE_NOOP("Evidence", "widest over narrowest range") },
    { "largest_branch", QT_TRANSLATE_NOOP("Evidence", "widest branch") },
    { "output_distance", QT_TRANSLATE_NOOP("Evidence", "relative distance of the output") },
    { "distance_at_place", QT_TRANSLATE_NOOP("Evidence", "relative distance there") },
    { "scale_distance", QT_TRANSLATE_NOOP("Evidence", "relative distance of the scales") },
    { "source", QT_TRANSLATE_NOOP("Evidence", "source") },
    { "places", QT_TRANSLATE_NOOP("Evidence", "places") },
    { "tensors", QT_TRANSLATE_NOOP("Evidence", "tensors that pass it on") },
    { "float", QT_TRANSLATE_NOOP("Evidence", "without a partner in the float file") },
    { "quantized", QT_TRANSLATE_NOOP("Evidence", "without a partner in the quantized file") },
});

QString evidencePart(const EvidenceItem& item)
{
    const auto known = std::ranges::find_if(kEvidenceLabels, [&](const auto& entry) { return item.key == entry.key; });
    const bool isKnown = known != kEvidenceLabels.end();
    const QString label
        = isKnown ? QCoreApplication::translate("Evidence", known->label) : toQt(item.key).replace(u'_', u' ');
    if (!item.number)
        return label + u' ' + toQt(item.text);
    if (isKnown && known->kind == EvidenceKind::Share)
        return label + u' ' + percentText(item.number);
    if (item.unit == "dB")
        return label + u' ' + decibelText(item.number);
    return label + u' ' + numberText(*item.number) + (item.unit.empty() ? QString() : u' ' + toQt(item.unit));
}

} // namespace

QString evidenceText(const Finding& finding)
{
    QStringList parts;
    for (const EvidenceItem& item : finding.evidence)
        parts << evidencePart(item);
    return parts.join(QStringLiteral(" · "));
}

QString ruleDefinition(const std::string& rule)
{
    static const std::array<std::pair<const char*, const char*>, 21> kRules { {
        { "models_differ",
            QT_TRANSLATE_NOOP("Rules",
                "With every quantizer taken out, the quantized file must compute what the float file computes. It does "
                "not, so "
                "the two files are not the same network and no other number can be trusted.") },
        { "weights_differ",
            QT_TRANSLATE_NOOP("Rules",
                "Rounding to a grid moves a weight by at most half a step. More than 0.1 % of the elements are further "
                "away "
                "without being clipped, so these are other weights: retrained, equalized, or from another file.") },
        { "range_too_small",
            QT_TRANSLATE_NOOP("Rules",
                "Values beyond the representable range are cut off (clipped). Here clipping makes most of the noise: "
                "the "
                "calibrated range is too narrow for these data.") },
        { "range_too_large",
            QT_TRANSLATE_NOOP("Rules",
                "The calibrated range is much wider than the data, so only few of the integer codes are used and "
                "rounding is "
                "coarser than it needs to be.") },
        { "input_mismatch",
            QT_TRANSLATE_NOOP("Rules",
                "The data at a graph input do not fit the range that was calibrated for it. Either the preprocessing "
                "or the "
                "calibration data differ from what is fed now; everything behind suffers.") },
        { "channel_imbalance",
            QT_TRANSLATE_NOOP("Rules",
                "One scale serves all channels of a weight although their ranges differ much, so the small channels "
                "get only a "
                "few codes. Scales per channel remove this.") },
        { "outliers",
            QT_TRANSLATE_NOOP("Rules",
                "A few values are far larger than the rest and stretch the range, so that the bulk shares few codes. "
                "Clipping them, or a calibrator that does, often costs less than it gains.") },
        { "wrong_zero_point",
            QT_TRANSLATE_NOOP("Rules",
                "The mean error is whole steps: the code that should stand for 0 stands for another value. The zero "
                "point was calibrated, or written, wrongly.") },
        { "wrong_bias_scale",
            QT_TRANSLATE_NOOP("Rules",
                "A bias is added to sums of products, so its scale has to be that of the input times that of the "
                "weight. Another scale, or a bias too large for 32 bits, shifts every output.") },
        { "scale_mismatch_at_join",
            QT_TRANSLATE_NOOP("Rules",
                "Branches that meet in Concat or Add share one scale. Where one is far wider than another, the narrow "
                "one keeps only a few codes.") },
        { "extreme_constant",
            QT_TRANSLATE_NOOP("Rules",
                "One constant, as the mask of attention near −3.4e38, decides the range, and nothing is left for the "
                "values that matter.") },
        { "sensitive_operator",
            QT_TRANSLATE_NOOP("Rules",
                "Softmax, normalization, Sigmoid, logarithms and attention masks turn small errors of their inputs "
                "into large ones. Left in float they cost little time.") },
        { "saturating_accumulation",
            QT_TRANSLATE_NOOP("Rules",
                "CPUs without wide dot products add pairs of 8-bit products in 16 bits. Sums that do not fit are cut "
                "off; weights of 7 bits (reduced range) always fit.") },
        { "implementation_differs",
            QT_TRANSLATE_NOOP("Rules",
                "The same codes give other codes under integer arithmetic than the file says, by more than one step: "
                "what is seen here is not what the runtime will compute.") },
        { "runtime_rejects",
            QT_TRANSLATE_NOOP("Rules",
                "The file is right by the standard, but a runtime is known to refuse this form, or to run it unfused "
                "and slowly.") },
        { "slow_form",
            QT_TRANSLATE_NOOP("Rules",
                "This form of quantization was measured to be slower than float on x86, so nothing is gained by it "
                "there.") },
        { "requantization_ping_pong",
            QT_TRANSLATE_NOOP("Rules",
                "Values are quantized and dequantized without an integer operator between: that adds noise and time "
                "and buys nothing.") },
        { "data_sensitive",
            QT_TRANSLATE_NOOP("Rules",
                "A few samples carry most of the error. They are listed under Samples; look at what they have in "
                "common.") },
        { "data_insensitive",
            QT_TRANSLATE_NOOP("Rules",
                "All samples have about the same error: it comes from the parameters, not from single inputs.") },
        { "inherited",
            QT_TRANSLATE_NOOP("Rules",
                "These tensors only pass on error that came in: their own quantizers are near the ideal. Nothing to do "
                "here; "
                "mend the source.") },
        { "unmatched",
            QT_TRANSLATE_NOOP("Rules",
                "Tensors without a partner in the other file cannot be compared. Fused or renamed nodes are the usual "
                "reason.") },
    } };
    for (const auto& [name, text] : kRules) {
        if (rule == name)
            return QCoreApplication::translate("Rules", text);
    }
    return {};
}

} // namespace qs
