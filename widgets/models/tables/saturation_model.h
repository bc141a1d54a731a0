// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

namespace qs {

/// Nodes whose sums saturate in 16 bits under the arithmetic of CPUs without wide dot products.
class SaturationModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { Node, Op, Share, WorstChannel, Channels, Pairs, ColumnCount };
    explicit SaturationModel(QObject* parent = nullptr);
    const SaturationRow& at(int row) const { return current().comparison->saturation[size_t(row)]; }

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;
};

} // namespace qs
