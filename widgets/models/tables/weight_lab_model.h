// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/weight_lab.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// One way to store a weight.
struct LabRow {
    WeightTrial trial;
    std::optional<WeightTrial> equalized; ///< the same of the equalized weight, where there is one
    bool stored = false; ///< the weight is stored this way
};

/// Ways to store one weight, with what each gives.
class WeightLabModel : public RowModel<LabRow> {
    Q_OBJECT
public:
    enum class Key { Sqnr };
    enum Role { StoredRole = OwnRole }; ///< true: the weight is stored this way
    explicit WeightLabModel(QObject* parent = nullptr);
    /// Null: none. `stored`: how the weight is stored now.
    void setLab(const WeightLab* lab, const QuantParams& stored);

protected:
    bool isSame(const LabRow& a, const LabRow& b) const override;
    QVariant own(const LabRow& row, int role) const override;
};

} // namespace qs
