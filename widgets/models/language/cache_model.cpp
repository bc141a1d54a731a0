// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/language/cache_model.h"

#include "widgets/models/base/cells.h"

#include <algorithm>

namespace qs {

namespace {

using CacheColumn = Column<CacheTableRow>;

constexpr size_t kOutliersTold = 12;

QString rangeText(const ValueSpan& span)
{
    return span.empty() ? QString()
                        : QStringLiteral("%1 … %2").arg(numberText(double(span.low)), numberText(double(span.high)));
}

QString headText(const CacheTableRow& row) { return row.head ? QString::number(*row.head) : CacheModel::tr("all"); }

QString outlierTip(const CacheTableRow& row)
{
    const QString rule = CacheModel::tr("Channels whose largest magnitude is more than %1 times the median of the "
                                        "layer's channels")
                             .arg(kOutlierFactor);
    return row.outlierText.empty() ? rule : rule + QStringLiteral(":\n") + toQt(row.outlierText);
}

CacheColumn errorColumn(CacheBits bits, CacheScales scales, const QString& title, const QString& toolTip, bool stays)
{
    const auto error
        = [bits, scales](const CacheTableRow& row) -> const CodingError& { return errorOf(row.errors, bits, scales); };
    const auto tip = [error, toolTip](const CacheTableRow& row) {
        const CodingError& e = error(row);
        return toolTip + u'\n'
            + CacheModel::tr("mean error %1, largest %2").arg(numberText(e.meanAbsError), numberText(e.maxAbsError));
    };
    ColumnSpec spec { title, toolTip, QStringLiteral("88.8"), ColumnKind::Value, Qt::AscendingOrder };
    spec.stays = stays;
    return { spec,
        decibels<CacheTableRow>([error](const CacheTableRow& row) { return error(row).sqnrDb; },
            [error](const CacheTableRow& row) { return error(row).exact; }),
        tip, {} };
}

QString scalesTip(CacheBits bits, CacheScales scales)
{
    const int count = bitsOf(bits);
    switch (scales) {
    case CacheScales::PerTensor:
        return CacheModel::tr("SQNR in dB as int%1 codes with one scale for the layer").arg(count);
    case CacheScales::PerChannel:
        return CacheModel::tr("SQNR in dB as int%1 codes with a scale for each channel of each head").arg(count);
    case CacheScales::PerToken:
        break;
    }
    return CacheModel::tr("SQNR in dB as int%1 codes with a scale for each position of each head").arg(count);
}

/// Channels by head, largest first.
std::string outlierList(const CacheRow& row, std::optional<size_t> head)
{
    std::string text;
    size_t told = 0;
    for (const OutlierChannel& outlier : row.outliers) {
        const size_t of = outlier.channel / row.size;
        if (head && of != *head)
            continue;
        if (told++ == kOutliersTold)
            return text + ", …";
        text += (text.empty() ? "" : ", ") + (head ? std::string() : std::to_string(of) + "/")
            + std::to_string(outlier.channel % row.size) + " (" + numberText(outlier.ratio).toStdString() + "×)";
    }
    return text;
}

} // namespace

CacheModel::CacheModel(QObject* parent)
    : RowModel(parent)
{
    const QString titles[2][3] { { tr("int8 layer"), tr("int8 channel"), tr("int8 token") },
        { tr("int4 layer"), tr("int4 channel"), tr("int4 token") } };
    Columns columns {
        { { tr("layer"), tr("Number of the layer"), tr("layer"), Value, kUp },
            counts<R>([](const R& row) { return quint64(row.layer); }) },
        { { tr("head"), tr("Head of keys and values; “all” is the whole layer"), tr("head"), Word, kUp },
            words<R>(headText, [](const R& row) { return row.head ? double(*row.head) : -1.0; }) },
        { { tr("range"), tr("Lowest and highest value over all prompts"), QStringLiteral("−88.8 … 88.8"), Value,
              kDown },
            { [](const R& row) { return rangeText(row.range); },
                [](const R& row) { return row.range.empty() ? Number() : Number(double(row.range.largest())); },
                [](const R& a, const R& b) { return a.range.low == b.range.low && a.range.high == b.range.high; } } },
        { { tr("outliers"),
              tr("Channels whose largest magnitude is more than %1 times the median of the layer's channels")
                  .arg(kOutlierFactor),
              tr("outliers"), Value, kDown },
            counts<R>([](const R& row) { return quint64(row.outliers); }), outlierTip },
    };
    columns[0].spec.stays = columns[1].spec.stays = columns[2].spec.stays = true;
    for (const CacheBits bits : kCacheBits)
        for (const CacheScales scales : kCacheScales)
            columns.push_back(errorColumn(bits, scales, titles[size_t(bits)][size_t(scales)], scalesTip(bits, scales),
                scales == CacheScales::PerChannel));
    addColumns(std::move(columns));
}

void CacheModel::setReport(const CacheReport* report, CacheKind kind)
{
    std::vector<CacheTableRow> rows;
    for (size_t place = 0; report && place < report->rows.size(); ++place) {
        const CacheRow& row = report->rows[place];
        if (row.kind != kind)
            continue;
        rows.push_back(
            { place, row.layer, {}, row.name, row.range, row.outliers.size(), outlierList(row, {}), row.errors });
        for (size_t h = 0; row.heads.size() > 1 && h < row.heads.size(); ++h)
            rows.push_back({ place, row.layer, h, row.name, row.heads[h].range, row.heads[h].outliers,
                outlierList(row, h), row.heads[h].errors });
    }
    setRows(std::move(rows));
}

QString CacheModel::filterText(const CacheTableRow& row) const
{
    return toQt(row.name) + u' ' + tr("layer %1 head %2").arg(row.layer).arg(headText(row));
}

} // namespace qs

#include "moc_cache_model.cpp"
