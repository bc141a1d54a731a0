// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

namespace qs {

/// One row a sample: what both models say of it, by how much, and its error at the output.
class SampleModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { Sample, Class, QuantMargin, FloatMargin, Sqnr, Label, ColumnCount };
    explicit SampleModel(QObject* parent = nullptr);
    size_t sampleOf(int row) const; ///< number among all samples
    bool flipped(int row) const; ///< the class differs between the models

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    QString classesText(int row, const ClassNames& names) const; ///< of the float model, and of both where they differ
    Number classOf(int row, std::vector<int64_t> Comparison::*of) const; ///< empty where there is none
};

/// SQNR of the worst output for one sample (an index of the comparison's own); infinite when all are exact.
Number sampleSqnrDb(const Comparison& comparison, size_t index);

} // namespace qs
