// SPDX-License-Identifier: GPL-3.0-or-later
// What rules and their evidence are called, for people.
#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>

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
    { "saturation_sqnr_db", QT_TRANSLATE_NOOP("Evidence", "SQNR left by saturation alone") },
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
    { "median_sample_width", QT_TRANSLATE_NOOP("Evidence", "median width of the samples' ranges"),
        EvidenceKind::Share },
    { "cost_db", QT_TRANSLATE_NOOP("Evidence", "cost of one range") },
    { "calibration_cost_db", QT_TRANSLATE_NOOP("Evidence", "cost of the calibration data") },
    { "half_range_share", QT_TRANSLATE_NOOP("Evidence", "width after half of the samples"), EvidenceKind::Share },
    { "settled_after", QT_TRANSLATE_NOOP("Evidence", "samples until ranges settle") },
    { "judged_samples", QT_TRANSLATE_NOOP("Evidence", "samples that judge, too") },
    { "repeated_samples", QT_TRANSLATE_NOOP("Evidence", "equal samples") },
    { "all_classes", QT_TRANSLATE_NOOP("Evidence", "classes of the model") },
    { "drop_points", QT_TRANSLATE_NOOP("Evidence", "percentage points less") },
    { "float_accuracy", QT_TRANSLATE_NOOP("Evidence", "float model right"), EvidenceKind::Share },
    { "quantized_accuracy", QT_TRANSLATE_NOOP("Evidence", "quantized model right"), EvidenceKind::Share },
    { "lost", QT_TRANSLATE_NOOP("Evidence", "samples lost") },
    { "gained", QT_TRANSLATE_NOOP("Evidence", "samples gained") },
    { "chance", QT_TRANSLATE_NOOP("Evidence", "chance in equally good models") },
    { "risky_share", QT_TRANSLATE_NOOP("Evidence", "weights that can leave 16 bits"), EvidenceKind::Share },
    { "mac_share", QT_TRANSLATE_NOOP("Evidence", "share of the multiplications"), EvidenceKind::Share },
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

QString ruleExplanation(Rule rule)
{
    return QCoreApplication::translate("Rules", std::string(ruleInfo(rule).explanation).c_str());
}

} // namespace qs
