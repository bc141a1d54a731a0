// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace qs {

/// One line of the inspector. A section's rows follow it; only sections have an empty value.
struct InspectorRow {
    QString key;
    QString value;
    QString toolTip; ///< the formula filled in
    bool section = false;
    std::optional<size_t> weight = {}; ///< row of the comparison's weights that it leads to
    std::optional<size_t> activation = {}; ///< row of its activations that it leads to
    bool sentence = false; ///< the value is shown whole, over as many lines as it needs
    bool operator==(const InspectorRow&) const = default;
};

/// Everything known of the selected tensor, weight or node; of the opened files when nothing is selected.
std::vector<InspectorRow> inspectorRows(const Snapshot& snapshot, const Place& place);
/// "conv_2 · output", for the panel's header.
QString inspectorTitle(const Snapshot& snapshot, const Place& place);

/// Key and value in two columns.
class InspectorModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// WeightRole and ActivationRole: rows of the comparison that a row leads to.
    enum Role { SortRole = Qt::UserRole, SectionRole, WeightRole, SentenceRole, ActivationRole };
    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Rows with the same keys as before are only announced as changed.
    void setRows(std::vector<InspectorRow> rows);
    const std::vector<InspectorRow>& rows() const { return m_rows; }

private:
    std::vector<InspectorRow> m_rows;
};

} // namespace qs
