// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/column_model.h"
#include "widgets/models/place.h"

namespace qs {

/// Values of both graphs without a partner: the float file's, then the quantized file's.
class UnmatchedModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { Tensor, File, Op, ShapeColumn, Node, ColumnCount };
    explicit UnmatchedModel(QObject* parent = nullptr);
    Place place(int row) const;

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
};

} // namespace qs
