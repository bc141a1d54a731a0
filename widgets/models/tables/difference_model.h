// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

namespace qs {

/// What a second quantized model does otherwise than the first, one row a tensor.
class DifferenceModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { Tensor, Kind, What, Gain, First, Second, FirstSqnr, SecondSqnr, Ratio, Op, Node, ColumnCount };
    explicit DifferenceModel(QObject* parent = nullptr);
    const ParameterDifference& difference(int row) const { return of(current(), row); }

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    static const ParameterDifference& of(const Snapshot& snapshot, int row)
    {
        return snapshot.other->differences[size_t(row)];
    }
};

/// "scale ×1.53, zero point", "only in A", "the same".
QString differenceText(const ParameterDifference& difference);
/// What the second model is called: its file, or the recipe.
QString otherName(const Snapshot& snapshot);

} // namespace qs
