// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// One row a matched activation. The columns that show a metric have it as their key.
class TensorModel : public SnapshotModel<ActivationRow> {
    Q_OBJECT
public:
    explicit TensorModel(QObject* parent = nullptr);

protected:
    RowList<ActivationRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const ActivationRow& a, const ActivationRow& b) const override
    {
        return a.name == b.name && (a.siblings == 0 || a.quantizedName == b.quantizedName);
    }
    QString filterText(const ActivationRow& row) const override;

private:
    Columns pairColumns() const;
    Columns qualityColumns() const;
    Columns quantizerColumns() const;
    Columns errorColumns() const;
    Columns placeColumns() const;
};

/// Observed over representable range; nullopt without a quantizer.
Number usedRangeOf(const ActivationRow& row);
/// "name 1.0", "topol. .97".
QString matchLabel(MatchMethod method, double confidence);

} // namespace qs
