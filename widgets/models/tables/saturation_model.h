// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

/// Nodes whose sums saturate in 16 bits under the arithmetic of CPUs without wide dot products.
class SaturationModel : public SnapshotModel<SaturationRow> {
    Q_OBJECT
public:
    enum class Key { Share };
    explicit SaturationModel(QObject* parent = nullptr);

protected:
    RowList<SaturationRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const SaturationRow& a, const SaturationRow& b) const override { return a.node == b.node; }
    QString filterText(const SaturationRow& row) const override;
};

} // namespace qs
