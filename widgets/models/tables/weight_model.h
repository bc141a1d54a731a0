// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

namespace qs {

/// One row a matched weight or bias.
class WeightModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column {
        Weight,
        Op,
        DataType,
        Sqnr,
        Ideal,
        WorstChannel,
        Channels,
        RangeRatio,
        PerTensor,
        PerChannel,
        Clipped,
        UsedCodes,
        HalfStep,
        Scale,
        ZeroPoint,
        Rmse,
        MaxError,
        ShapeColumn,
        Match,
        Node,
        QuantizedName,
        ColumnCount
    };
    explicit WeightModel(QObject* parent = nullptr);

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    const WeightRow& at(int row) const;
};

/// Lowest SQNR among the channels.
Number worstChannelOf(const WeightRow& row);
/// With its number, where there are several: "39.6 dB (channel 16)".
QString worstChannelText(const WeightRow& row);

} // namespace qs
