// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

namespace qs {

enum class Side;

/// Both tensors of a pair, or the one without a partner. Valid while the snapshot lives.
struct MatchRow {
    const Snapshot* snapshot = nullptr;
    ValueId floatValue, quantValue;
    const ValuePair* pair = nullptr; ///< null: no partner
    NodeId around; ///< without a partner: the node of the other file that the tensor is inside; else invalid
    std::optional<WhyAlone> why; ///< of a tensor without a partner, where it is known
    const ActivationRow* compared = nullptr; ///< null: not compared
    QString floatName() const; ///< "" without one
    QString quantName() const;
};

/// How the tensors of both graphs correspond: the pairs in the float file's order, then what is inside a node of the
/// other file, then what has no partner in the float file, then in the quantized one.
class MatchModel : public SnapshotModel<MatchRow> {
    Q_OBJECT
public:
    enum class Key { Match };
    explicit MatchModel(QObject* parent = nullptr);

protected:
    RowList<MatchRow> rowsOf(const SnapshotPtr& snapshot) const override;
    bool isSame(const MatchRow& a, const MatchRow& b) const override;
    QString filterText(const MatchRow& row) const override;
};

/// A tensor that could be the partner of another.
struct LinkCandidate {
    ValueId value;
    QString name, op, shape;
    bool fits = false; ///< as many elements, as far as sizes are known
    bool taken = false; ///< has a partner already
    bool sameShape = false; ///< as far as sizes are known
};
/// Of the other file than `from`; the likeliest first: fitting sizes, without a partner, the same shape, the same
/// operator, then the likeness of names.
std::vector<LinkCandidate> linkCandidates(const Snapshot& snapshot, Side from, ValueId value);

} // namespace qs
