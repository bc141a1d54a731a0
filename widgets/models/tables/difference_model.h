// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

/// What a second quantized model does otherwise than the first, one row a tensor.
class DifferenceModel : public SnapshotModel<ParameterDifference> {
    Q_OBJECT
public:
    enum class Key { Gain };
    explicit DifferenceModel(QObject* parent = nullptr);

protected:
    RowList<ParameterDifference> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const ParameterDifference& a, const ParameterDifference& b) const override;
    QString filterText(const ParameterDifference& row) const override;
};

/// "scale ×1.53, zero point", "only in A", "the same".
QString differenceText(const ParameterDifference& difference);

} // namespace qs
