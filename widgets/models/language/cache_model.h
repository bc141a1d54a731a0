// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_report.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// A layer, or one head of it.
struct CacheTableRow {
    size_t place = 0; ///< row of the report
    size_t layer = 0;
    std::optional<size_t> head; ///< none: all of the layer
    std::string name; ///< of the cache
    ValueSpan range;
    size_t outliers = 0;
    std::string outlierText; ///< which channels they are
    CodingErrors errors;
};

/// Keys or values that a language model remembers: what they are like, and what codes lose of them.
class CacheModel : public RowModel<CacheTableRow> {
    Q_OBJECT
public:
    explicit CacheModel(QObject* parent = nullptr);
    /// Rows of that kind; a layer of one head is one row. No report: none.
    void setReport(const CacheReport* report, CacheKind kind);

protected:
    bool isSame(const CacheTableRow& a, const CacheTableRow& b) const override
    {
        return a.name == b.name && a.head == b.head && a.place == b.place;
    }
    QString filterText(const CacheTableRow& row) const override;
};

} // namespace qs
