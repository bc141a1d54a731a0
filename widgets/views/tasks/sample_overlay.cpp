// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/sample_overlay.h"

#include "core/analysis/agreement/task_row.h"
#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/scores.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>

namespace qs {

namespace {

struct Overlay {
    Q_DECLARE_TR_FUNCTIONS(Overlay)
};

constexpr int kOverlaySide = 232; ///< pixels of the longer side
constexpr size_t kMostRows = 10;

QImage scaled(const QImage& picture)
{
    return picture.convertToFormat(QImage::Format_RGB32)
        .scaled(kOverlaySide, kOverlaySide, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

QString labelOf(const ClassNames& names, int64_t label) { return toQt(className(names, label)); }

QString tableOf(const QStringList& heads, const std::vector<QStringList>& rows)
{
    QString text = QStringLiteral("<table cellspacing=0 cellpadding=1><tr>");
    for (const QString& head : heads)
        text += QStringLiteral("<td><b>%1</b>&nbsp;&nbsp;</td>").arg(head.toHtmlEscaped());
    for (const QStringList& row : rows) {
        text += QStringLiteral("</tr><tr>");
        for (const QString& cell : row)
            text += QStringLiteral("<td>%1&nbsp;&nbsp;</td>").arg(cell.toHtmlEscaped());
    }
    return text + QStringLiteral("</tr></table>");
}

QString more(size_t all)
{
    return all > kMostRows ? QStringLiteral("<p>%1</p>").arg(Overlay::tr("and %1 more").arg(countText(all - kMostRows)))
                           : QString();
}

std::vector<bool> matchedOf(const std::vector<std::pair<size_t, size_t>>& pairs, size_t count, bool second)
{
    std::vector<bool> matched(count, false);
    for (const auto& pair : pairs)
        matched[second ? pair.second : pair.first] = true;
    return matched;
}

/// Those that differ first: without counterpart, with another class, matched.
std::vector<QStringList> boxRows(const SampleBoxes& b, const ClassNames& names)
{
    std::vector<QStringList> rows;
    const QString none = absentText();
    const auto x = matchedOf(b.matches.same, b.x.size(), false), y = matchedOf(b.matches.same, b.y.size(), true);
    auto seenX = x, seenY = y;
    std::vector<QStringList> changed, matched;
    for (const auto& [i, j] : b.matches.reclassed) {
        seenX[i] = seenY[j] = true;
        changed.push_back({ labelOf(names, b.x[i].label) + QStringLiteral(" → ") + labelOf(names, b.y[j].label),
            numberText(double(b.x[i].score)), numberText(double(b.y[j].score)),
            numberText(overlapOf(b.x[i], b.y[j])) });
    }
    for (const auto& [i, j] : b.matches.same)
        matched.push_back({ labelOf(names, b.x[i].label), numberText(double(b.x[i].score)),
            numberText(double(b.y[j].score)), numberText(overlapOf(b.x[i], b.y[j])) });
    for (size_t i = 0; i < b.x.size(); ++i)
        if (!seenX[i])
            rows.push_back({ labelOf(names, b.x[i].label), numberText(double(b.x[i].score)), none, none });
    for (size_t j = 0; j < b.y.size(); ++j)
        if (!seenY[j])
            rows.push_back({ labelOf(names, b.y[j].label), none, numberText(double(b.y[j].score)), none });
    rows.insert(rows.end(), changed.begin(), changed.end());
    rows.insert(rows.end(), matched.begin(), matched.end());
    return rows;
}

QString boxesText(const SampleBoxes& boxes, const ClassNames& names, const Theme& theme)
{
    const auto line = [](const QColor& colour, const QString& sign, const QString& text) {
        return QStringLiteral("<span style='color:%1'><b>%2</b></span> %3").arg(colour.name(), sign, text);
    };
    const QString legend = line(theme.floatSeries, QStringLiteral("╌╌"), Overlay::tr("float"))
        + QStringLiteral("&nbsp; ") + line(theme.quantSeries, QStringLiteral("━━"), Overlay::tr("quantized"));
    auto rows = boxRows(boxes, names);
    const size_t all = rows.size();
    rows.resize(std::min(all, kMostRows));
    return QStringLiteral("<p>%1</p>").arg(legend)
        + (rows.empty()
                ? Overlay::tr("No boxes in either model.")
                : tableOf(
                    { Overlay::tr("class"), Overlay::tr("float"), Overlay::tr("quantized"), Overlay::tr("IoU") }, rows))
        + more(all);
}

QString maskText(const SampleMasks& masks, const ClassNames& names)
{
    PartCounts counts;
    maskSums(masks.x, masks.y, true, counts);
    std::vector<QStringList> rows;
    size_t differing = 0;
    for (size_t i = 0; i < masks.x.size(); ++i)
        differing += masks.x[i] != masks.y[i];
    for (size_t c = 0; c < counts.all.size(); ++c)
        if (const Number overlap = shareOf(counts, c))
            rows.push_back({ labelOf(names, int64_t(c)), numberText(overlap), countText(counts.all[c]) });
    std::ranges::stable_sort(rows, {}, [](const QStringList& row) { return row[1].toDouble(); });
    const size_t all = rows.size();
    rows.resize(std::min(all, kMostRows));
    return QStringLiteral("<p>%1</p>")
               .arg(Overlay::tr("%1 of %2 pixels have another class.")
                        .arg(countText(differing), countText(masks.x.size())))
        + tableOf({ Overlay::tr("class"), Overlay::tr("IoU"), Overlay::tr("pixels") }, rows) + more(all);
}

QString sequenceText(const SampleOutput& out, const ClassNames& names)
{
    const auto rows = scoreRows(out.shape, 1);
    if (!rows || rows->positions * rows->classes != out.x.size())
        return {};
    std::vector<QStringList> list;
    size_t all = 0;
    for (size_t i = 0; i < rows->positions; ++i) {
        const int64_t x = argmax(out.x.data() + i * rows->classes, rows->classes);
        const int64_t y = argmax(out.y.data() + i * rows->classes, rows->classes);
        if (x == y || ++all > kMostRows)
            continue;
        list.push_back({ QString::number(i), labelOf(names, x), labelOf(names, y) });
    }
    if (list.empty())
        return QStringLiteral("<p>%1</p>").arg(Overlay::tr("Every position has the same class."));
    return QStringLiteral("<p>%1</p>")
               .arg(Overlay::tr("%1 of %2 positions have another class.")
                        .arg(countText(all), countText(rows->positions)))
        + tableOf({ Overlay::tr("position"), Overlay::tr("float"), Overlay::tr("quantized") }, list) + more(all);
}

} // namespace

QImage withBoxes(const QImage& picture, const SampleBoxes& boxes, const PictureSize& size, const Theme& theme,
    const ClassNames& names)
{
    QImage image = scaled(picture);
    if (size.width <= 0 || size.height <= 0)
        return image;
    QPainter painter(&image);
    const double across = image.width() / double(size.width), down = image.height() / double(size.height);
    const auto draw = [&](const Box& box, const QPen& pen, bool told) {
        const QRectF place(
            box.left * across, box.top * down, (box.right - box.left) * across, (box.bottom - box.top) * down);
        painter.setPen(QPen(QColor(255, 255, 255, 160), pen.widthF() + 2)); // seen on any ground
        painter.drawRect(place);
        painter.setPen(pen);
        painter.drawRect(place);
        if (!told)
            return;
        const QString text = labelOf(names, box.label);
        QRectF ground(
            place.topLeft(), QSizeF(painter.fontMetrics().horizontalAdvance(text) + 6, painter.fontMetrics().height()));
        painter.fillRect(ground, pen.color());
        painter.setPen(Theme::textOn(pen.color()));
        painter.drawText(ground, Qt::AlignCenter, text);
    };
    QPen dashed(theme.floatSeries, 2, Qt::DashLine), solid(theme.quantSeries, 2);
    const auto x = matchedOf(boxes.matches.same, boxes.x.size(), false);
    const auto y = matchedOf(boxes.matches.same, boxes.y.size(), true);
    for (size_t j = 0; j < boxes.y.size(); ++j)
        draw(boxes.y[j], solid, !y[j]);
    for (size_t i = 0; i < boxes.x.size(); ++i)
        draw(boxes.x[i], dashed, !x[i]);
    return image;
}

QImage withMask(const QImage& picture, const SampleMasks& masks, const Theme& theme)
{
    QImage image = scaled(picture.isNull() ? QImage(int(masks.width), int(masks.height), QImage::Format_Grayscale8)
                                           : picture.convertToFormat(QImage::Format_Grayscale8));
    if (picture.isNull())
        image.fill(Qt::black);
    for (int row = 0; row < image.height(); ++row)
        for (int column = 0; column < image.width(); ++column) {
            const size_t at = size_t(row) * masks.height / size_t(image.height()) * masks.width
                + size_t(column) * masks.width / size_t(image.width());
            if (masks.x[at] == masks.y[at])
                continue;
            const bool lost = masks.y[at] == 0;
            if (!lost || (row + column) % 4 < 2)
                image.setPixelColor(column, row, lost ? theme.floatSeries : theme.quantSeries);
        }
    return image;
}

QString sampleTaskText(
    const SampleTask& task, const std::vector<SampleOutput>& outputs, const ClassNames& names, const Theme& theme)
{
    if (task.boxes)
        return boxesText(*task.boxes, names, theme);
    if (task.masks)
        return maskText(*task.masks, names)
            + QStringLiteral("<p>%1</p>")
                  .arg(Overlay::tr("Striped: class 0 in the quantized model alone; filled: another class."));
    if (task.kind == TaskKind::Sequence && task.output < outputs.size())
        return sequenceText(outputs[task.output], names);
    return {};
}

} // namespace qs
