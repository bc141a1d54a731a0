// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

namespace qs {

/// One row a pair of graph outputs.
class OutputModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { Output, Sqnr, Cosine, Rmse, MaxError, Top1, Top5, QuantizedName, ColumnCount };
    explicit OutputModel(QObject* parent = nullptr);

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    const OutputRow& at(int row) const;
};

/// A name and a value for the header strip: "Output SQNR" "0.5 dB", "Accuracy" "100 → 50 %".
struct SummaryItem {
    QString label;
    QString value;
    QString toolTip;
    bool operator==(const SummaryItem&) const = default;
};
std::vector<SummaryItem> outcomeSummary(const Comparison& comparison);

} // namespace qs
