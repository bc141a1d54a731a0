// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/table_text.h"

#include "widgets/models/base/column_model.h"
#include "widgets/models/base/formatting.h"

#include <QStringList>

#include <cmath>

namespace qs {

namespace {

constexpr int kDigits = 7; ///< of a float; more say nothing of what was measured
constexpr double kLargestWhole = 1e15; ///< that is written out

QString plainNumber(double value)
{
    const bool whole = std::abs(value) < kLargestWhole && value == std::trunc(value);
    return whole ? QString::number(value, 'f', 0) : QString::number(value, 'g', kDigits);
}

QString tsvCell(const QVariant& value)
{
    QString text = value.userType() == QMetaType::Double ? plainNumber(value.toDouble()) : value.toString();
    if (text == absentText()) // no number for who reads it
        return {};
    return text.replace(u'\t', u' ').replace(u'\n', u' ');
}

/// What a column is called in TSV: one that is split is as many columns as it has parts.
QStringList tsvTitles(const QAbstractItemModel& model, int column)
{
    const QString title = model.headerData(column, Qt::Horizontal).toString();
    const QStringList parts = model.headerData(column, Qt::Horizontal, PartsRole).toStringList();
    QStringList titles;
    for (const QString& part : parts)
        titles << title + u' ' + part;
    return parts.isEmpty() ? QStringList { title } : titles;
}

QStringList tsvCells(const QModelIndex& index)
{
    const QAbstractItemModel& model = *index.model();
    const qsizetype parts = model.headerData(index.column(), Qt::Horizontal, PartsRole).toStringList().size();
    if (parts == 0)
        return { tsvCell(index.data(CopyRole)) };
    const QVariantList shares = index.data(SplitRole).toList();
    QStringList cells;
    for (qsizetype i = 0; i < parts; ++i)
        cells << (i < shares.size() ? tsvCell(shares[i]) : QString());
    return cells;
}

QString markdownCell(QString text) { return text.replace(u'|', QLatin1String("\\|")).replace(u'\n', u' '); }

} // namespace

QString tableText(
    const QAbstractItemModel& model, const std::vector<int>& rows, const std::vector<int>& columns, TableFormat format)
{
    const bool markdown = format == TableFormat::Markdown;
    const auto line = [markdown](const QStringList& cells) {
        return markdown ? QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n")
                        : cells.join(u'\t') + u'\n';
    };
    QStringList head, rule;
    for (const int column : columns) {
        const QString title = model.headerData(column, Qt::Horizontal).toString();
        const int alignment = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
        head << (markdown ? QStringList { markdownCell(title) } : tsvTitles(model, column));
        rule << (alignment & Qt::AlignRight ? QStringLiteral("---:") : QStringLiteral("---"));
    }
    QString text = line(head);
    if (markdown)
        text += line(rule);
    for (const int row : rows) {
        QStringList cells;
        for (const int column : columns) {
            const QModelIndex index = model.index(row, column);
            cells << (markdown ? QStringList { markdownCell(index.data().toString()) } : tsvCells(index));
        }
        text += line(cells);
    }
    return text;
}

} // namespace qs
