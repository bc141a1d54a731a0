// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHeaderView>

namespace qs {

inline constexpr int kTextIndent = 8; ///< before texts: numbers of the column before end at its edge

/// Column titles; the sorted one carries a triangle behind its text, where a narrow section still shows it.
class TableHeader : public QHeaderView {
public:
    explicit TableHeader(QWidget* parent = nullptr);
    /// Room that a title needs with its triangle.
    int titleWidth(const QString& title) const;

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int logicalIndex) const override;
};

} // namespace qs
