// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

/// One row a pair of graph outputs.
class OutputModel : public SnapshotModel<OutputRow> {
    Q_OBJECT
public:
    enum class Key { Sqnr };
    explicit OutputModel(QObject* parent = nullptr);

protected:
    RowList<OutputRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const OutputRow& a, const OutputRow& b) const override { return a.name == b.name; }
    QString filterText(const OutputRow& row) const override;
};

/// A name and a value for the header strip: "Output SQNR" "0.5 dB", "Accuracy" "100 → 50 %".
struct SummaryItem {
    QString label;
    QString value;
    QString toolTip;
    bool operator==(const SummaryItem&) const = default;
};
std::vector<SummaryItem> outcomeSummary(const Comparison& comparison);
/// With what a second quantized model gives: "12.3 dB · B 15.1 dB". Empty without a comparison.
std::vector<SummaryItem> outcomeSummary(const Snapshot& snapshot);

} // namespace qs
