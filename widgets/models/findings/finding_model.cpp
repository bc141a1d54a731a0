// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/findings/finding_model.h"

#include "core/quant/recipe/recipe.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/words/window_words.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace qs {

namespace {

bool sameText(const Finding& a, const Finding& b)
{
    return a.rule == b.rule && a.severity == b.severity && a.title == b.title && a.summary == b.summary
        && a.tensor == b.tensor && a.node == b.node && a.remedy == b.remedy && evidenceText(a) == evidenceText(b)
        && placesText(a) == placesText(b) && a.measuredGainDb == b.measuredGainDb;
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
    return inWindowWords(toQt(text)).replace(kMinus, QStringLiteral("−"));
}

QString withShortNames(const QString& text)
{
    constexpr int kLetters = 36, kBegin = 14, kEnd = 21;
    static const QRegularExpression kWords(QStringLiteral("\\S+"));
    QString shown;
    qsizetype done = 0;
    for (auto words = kWords.globalMatch(text); words.hasNext();) {
        const auto word = words.next();
        if (word.capturedLength() <= kLetters)
            continue;
        const QString begin = word.captured().left(kBegin), end = word.captured().right(kEnd);
        const qsizetype parent = begin.lastIndexOf(u'/'), child = end.indexOf(u'/'); // whole parts of a path
        shown += text.mid(done, word.capturedStart() - done) + begin.left(parent < 1 ? kBegin : parent + 1) + u'…'
            + end.mid(std::max<qsizetype>(child, 0));
        done = word.capturedEnd();
    }
    return shown + text.mid(done);
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
        return remedy.ofAllWeights() ? tr("Quantize all weights per channel")
                                     : tr("Quantize %1 per channel").arg(toQt(remedy.tensor));
    case RemedyKind::ReduceRange:
        return tr("Reduce the range of weights");
    case RemedyKind::ExcludeNode:
        return tr("Exclude %1").arg(toQt(remedy.node));
    case RemedyKind::KeepExtremeConstants:
        return tr("Leave extreme constants in float");
    case RemedyKind::UnsignedActivations:
        return tr("Activations uint8");
    case RemedyKind::KeepActivations:
        return tr("Keep Relu and Clip where ranges do not cut");
    case RemedyKind::AsymmetricActivations:
        return tr("Asymmetric activations");
    case RemedyKind::DynamicFormat:
        return tr("Dynamic format");
    case RemedyKind::StaticFormat:
        return tr("Static format");
    case RemedyKind::EightBitWeight:
        return remedy.ofAllWeights() ? tr("Quantize all weights to 8 bits")
                                     : tr("Quantize %1 to 8 bits").arg(toQt(remedy.tensor));
    case RemedyKind::Equalize:
        return tr("Equalize the weights across layers");
    case RemedyKind::SmoothQuant:
        return tr("Move large channels into the weights (SmoothQuant)");
    case RemedyKind::StoreConstant:
        return tr("Store the float model's %1").arg(toQt(remedy.tensor));
    case RemedyKind::OpenClip:
        return tr("Open the Clip on the codes of %1").arg(toQt(remedy.tensor));
    case RemedyKind::FuseGemm:
        return tr("Fuse products and sums to Gemm");
    case RemedyKind::Calibrate:
        return tr("Calibrator %1").arg(toQt(std::string(nameIn(kCalibrators, remedy.calibrator))));
    case RemedyKind::ActivationType:
        return tr("Activations %1").arg(toQt(std::string(nameIn(kCodeTypes, remedy.type))));
    }
    return {};
}

QString remediesText(const std::vector<Remedy>& remedies)
{
    const QString first = remedyText(remedies.front());
    return remedies.size() == 1 || first.isEmpty() || first == remedyText(remedies.back())
        ? first
        : FindingModel::tr("%1, and %2 more").arg(first, countText(quint64(remedies.size() - 1)));
}

QString gainText(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    if (!f.measuredGainDb) {
        const bool promised = f.change.kind != RemedyKind::None && f.expectedGainDb;
        return promised ? FindingModel::tr("At this tensor about %1; at the output not measured.")
                              .arg(decibelText(*f.expectedGainDb))
                        : QString();
    }
    const QString gain = FindingModel::tr("Measured at the output: %1").arg(signedDecibelText(*f.measuredGainDb));
    if (!f.measuredAccuracyGain || !accuracy)
        return gain + u'.';
    const auto samples = int(std::lround(*f.measuredAccuracyGain / 100 * double(accuracy->labels)));
    if (samples == 0)
        return FindingModel::tr("%1, as many samples right.").arg(gain);
    if (std::abs(samples) == 1)
        return (
            samples > 0 ? FindingModel::tr("%1, 1 sample more right.") : FindingModel::tr("%1, 1 sample fewer right."))
            .arg(gain);
    const QString number = countText(quint64(std::abs(samples)));
    return samples > 0 ? FindingModel::tr("%1, %2 more samples right.").arg(gain, number)
                       : FindingModel::tr("%1, %2 fewer samples right.").arg(gain, number);
}

QString placesText(const Finding& finding)
{
    QStringList names;
    for (const FindingPlace& place : finding.places)
        names << toQt(place.tensor.empty() ? place.node : place.tensor);
    return names.join(QStringLiteral(", "));
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

} // namespace qs

#include "moc_finding_model.cpp"
