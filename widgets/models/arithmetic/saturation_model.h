// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/arithmetic/arithmetic_table.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// A node whose kernel adds pairs of products in 16 bits.
struct SaturatingNode {
    SaturationRow counts;
    std::string value; ///< float tensor that it makes; "" = not known
    Number lostDb; ///< there; null before the arithmetics were compared
};

/// Nodes whose sums saturate in 16 bits under the arithmetic of CPUs without wide dot products.
class SaturationModel : public RowModel<SaturatingNode> {
    Q_OBJECT
public:
    enum class Key { Share, Lost };
    explicit SaturationModel(QObject* parent = nullptr);
    void setSnapshot(const SnapshotPtr& snapshot) override;
    /// What is lost; null: not known.
    void setTable(std::shared_ptr<const ArithmeticTable> table);

protected:
    bool isSame(const SaturatingNode& a, const SaturatingNode& b) const override
    {
        return a.counts.node == b.counts.node;
    }
    QString filterText(const SaturatingNode& row) const override;

private:
    void refresh();

    SnapshotPtr m_snapshot;
    std::shared_ptr<const ArithmeticTable> m_table;
};

} // namespace qs
