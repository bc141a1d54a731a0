// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <QAbstractListModel>

namespace qs {

/// Findings of the current comparison, worst first (the order of the comparison).
class FindingModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole, SeverityRole, TitleRole, SummaryRole, RemedyRole, EvidenceRole, PlaceRole };
    using QAbstractListModel::QAbstractListModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    void setSnapshot(const SnapshotPtr& snapshot);
    const Finding& finding(int row) const { return m_snapshot->comparison->findings[size_t(row)]; }
    const std::vector<Finding>& findings() const { return m_snapshot->comparison->findings; } ///< where there are rows

private:
    SnapshotPtr m_snapshot = std::make_shared<Snapshot>();
    int m_rows = 0;
};

/// What a rule looks at and what it means, in the user's language; for "Explain".
QString ruleExplanation(Rule rule);
/// A finding's sentence as it is shown: findings write plain ASCII, the window has the typographic minus.
QString findingText(const std::string& text);
/// The sentence with names of more than 36 letters cut in their middle.
QString withShortNames(const QString& text);
QString severityText(Severity severity);
/// A remedy as the name of an edit: "Recalibrate all activations"; "" for what no edit does.
QString remedyText(const Remedy& remedy);
/// The same for all that a finding changes: "Exclude a, and 3 more".
QString remediesText(const std::vector<Remedy>& remedies);
/// What is known of the remedy's gain: "Measured at the output: +12.3 dB, 5 more samples right."; "" where nothing is.
QString gainText(const Finding& finding, const std::optional<Accuracy>& accuracy);
QString placesText(const Finding& finding); ///< "a, b, c"; "" where there is one only
/// "clipped 50.2 % · to be gained 6.0 dB": evidence on one line.
QString evidenceText(const Finding& finding);

} // namespace qs
