// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

/// One row a matched weight or bias.
class WeightModel : public SnapshotModel<WeightRow> {
    Q_OBJECT
public:
    enum class Key { Sqnr };
    explicit WeightModel(QObject* parent = nullptr);

protected:
    RowList<WeightRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const WeightRow& a, const WeightRow& b) const override;
    QString filterText(const WeightRow& row) const override;

private:
    Columns qualityColumns() const;
    Columns codeColumns() const;
    Columns errorColumns() const;
};

/// Lowest SQNR among the channels, and which it is where there are several: "39.6 dB (channel 16)".
QString worstChannelText(const WeightRow& row);

} // namespace qs
