// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

/// What both models say of one sample. Numbers are empty where there are none.
struct SampleRow {
    std::string name;
    const ClassNames* classNames = nullptr; ///< of the snapshot
    Number label, floatClass, quantClass;
    Number floatMargin, quantMargin;
    TaskKind task = TaskKind::Values; ///< of the output that samples are told by
    Number agreement; ///< by that task
    QString difference; ///< what is not the same
    bool differs = false;
    Number sqnrDb; ///< of the worst output; infinite when all are exact
    Number otherClass, otherMargin, otherSqnrDb; ///< the same of a second quantized model
    bool otherFlipped() const { return floatClass && otherClass && *floatClass != *otherClass; }
    bool flipped() const { return floatClass && quantClass && *floatClass != *quantClass; }
};

/// One row a sample: what both models say of it, by how much, and its error at the output.
class SampleModel : public SnapshotModel<SampleRow> {
    Q_OBJECT
public:
    enum class Key { Class, QuantMargin, Label, Flips, Agreement, Sqnr };
    explicit SampleModel(QObject* parent = nullptr);

protected:
    RowList<SampleRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const SampleRow& a, const SampleRow& b) const override { return a.name == b.name; }
    QString filterText(const SampleRow& row) const override;
};

} // namespace qs
