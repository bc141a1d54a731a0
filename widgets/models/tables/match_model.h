// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"
#include "widgets/models/base/place.h"

namespace qs {

/// How the tensors of both graphs correspond: the pairs in the float file's order, then what has no partner in the
/// float file, then in the quantized one.
class MatchModel : public ColumnModel {
    Q_OBJECT
public:
    enum Column { FloatTensor, QuantTensor, Match, Similarity, FloatOp, QuantOp, ShapeColumn, Node, ColumnCount };
    explicit MatchModel(QObject* parent = nullptr);

    /// Both, or the one of a tensor without a partner.
    struct Entry {
        ValueId floatValue, quantValue;
        const ValuePair* pair = nullptr; ///< null: no partner; valid while the snapshot is shown
    };
    Entry entry(int row) const;
    QString floatName(int row) const; ///< "" without one
    QString quantName(int row) const;
    Place place(int row) const;

protected:
    int countOf(const Snapshot& snapshot) const override;
    std::string keyOf(const Snapshot& snapshot, int row) const override;
    bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const override;
    QString text(int row, int column) const override;
    Number number(int row, int column) const override;
    QString filterText(int row) const override;
    QVariant extra(int row, int column, int role) const override;

private:
    const ActivationRow* compared(int row) const;
};

/// A tensor that could be the partner of another.
struct LinkCandidate {
    ValueId value;
    QString name, op, shape;
    bool fits = false; ///< as many elements, as far as sizes are known
    bool taken = false; ///< has a partner already
};
/// Of the other file than `from`; the likeliest first: fitting sizes, without a partner, the same operator, then the
/// likeness of names.
std::vector<LinkCandidate> linkCandidates(const Snapshot& snapshot, Side from, ValueId value);

} // namespace qs
