// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QModelIndexList>
#include <QString>

#include <vector>

class QAbstractItemModel;

/// Rows of a table as text for the clipboard.
namespace qs {

enum class TableFormat { Tsv, Markdown };

/// Header and the given rows, in the given columns (both in the order to write). TSV carries numbers in full precision,
/// Markdown what is shown.
QString tableText(
    const QAbstractItemModel& model, const std::vector<int>& rows, const std::vector<int>& columns, TableFormat format);

} // namespace qs
