// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/finding_model.h"

#include "widgets/models/formatting.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <array>
#include <utility>

namespace qs {

namespace {

bool sameText(const Finding& a, const Finding& b)
{
    return a.rule == b.rule && a.severity == b.severity && a.title == b.title && a.summary == b.summary
        && a.tensor == b.tensor && a.node == b.node && a.remedy == b.remedy && evidenceText(a) == evidenceText(b);
}

} // namespace

int FindingModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }

QVariant FindingModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Finding& f = finding(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case TitleRole:
        return findingText(f.title);
    case Qt::ToolTipRole:
    case SummaryRole:
        return findingText(f.summary);
    case SortRole:
        return double(index.row());
    case SeverityRole:
        return int(f.severity);
    case RemedyRole:
        return findingText(f.remedy);
    case EvidenceRole:
        return evidenceText(f);
    case PlaceRole:
        return toQt(f.tensor.empty() ? f.node : f.tensor);
    case RuleRole:
        return toQt(f.rule);
    default:
        return {};
    }
}

void FindingModel::setSnapshot(const SnapshotPtr& snapshot)
{
    if (!snapshot || snapshot == m_snapshot)
        return;
    const auto list = [](const Snapshot& s) { return s.comparison ? s.comparison->findings : std::vector<Finding> {}; };
    const std::vector<Finding> before = list(*m_snapshot), now = list(*snapshot);
    if (before.size() == now.size() && std::equal(before.begin(), before.end(), now.begin(), sameText)) {
        m_snapshot = snapshot;
        return;
    }
    beginResetModel();
    m_snapshot = snapshot;
    m_rows = int(now.size());
    endResetModel();
}

QString findingText(const std::string& text)
{
    static const QRegularExpression kMinus(QStringLiteral("(?<=^|[\\s(\\[])-(?=\\d)"));
    return toQt(text).replace(kMinus, QStringLiteral("−"));
}

QString remedyText(const Remedy& remedy)
{
    const auto tr = [](const char* text) { return FindingModel::tr(text); };
    switch (remedy.kind) {
    case RemedyKind::None:
    case RemedyKind::Requantize:
        return {};
    case RemedyKind::Recalibrate:
        return tr("Recalibrate all activations");
    case RemedyKind::SetRange:
        return tr("Range of %1").arg(toQt(remedy.tensor));
    case RemedyKind::PerChannel:
        return tr("Quantize %1 per channel").arg(toQt(remedy.tensor));
    case RemedyKind::ReduceRange:
        return tr("Reduce the range of weights");
    case RemedyKind::ExcludeNode:
        return tr("Exclude %1").arg(toQt(remedy.node));
    case RemedyKind::KeepExtremeConstants:
        return tr("Leave extreme constants in float");
    case RemedyKind::UnsignedActivations:
        return tr("Activations uint8");
    }
    return {};
}

QString severityText(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return FindingModel::tr("Error");
    case Severity::Warning:
        return FindingModel::tr("Warning");
    case Severity::Note:
        return FindingModel::tr("Note");
    }
    return {};
}

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
    { "source", QT_TRANSLATE_NOOP("Evidence", "source") },
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
    static const std::array<std::pair<const char*, const char*>, 8> kRules { {
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
