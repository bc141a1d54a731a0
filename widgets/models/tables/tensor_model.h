// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"
#include "widgets/models/base/metric.h"

namespace qs {

/// One row a matched activation.
class TensorModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column {
        Tensor,
        Op,
        Match,
        Accumulated,
        Ideal,
        Added,
        Increase,
        Qdq,
        NodeAlone,
        Noise,
        Clipped,
        UsedRange,
        UsedCodes,
        DataType,
        Scale,
        ZeroPoint,
        Range,
        Observed,
        Rmse,
        MaxError,
        MeanError,
        Cosine,
        ShapeColumn,
        Node,
        QuantizedName,
        ColumnCount
    };
    explicit TensorModel(QObject* parent = nullptr);
    /// The column that shows a metric.
    static int columnOf(Metric metric);

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    const ActivationRow& at(int row) const;
    QString toolTip(const ActivationRow& row, int column) const;
};

/// Observed over representable range; nullopt without a quantizer.
Number usedRangeOf(const ActivationRow& row);
/// "name 1.0", "topol. .97".
QString matchLabel(MatchMethod method, double confidence);

} // namespace qs
