// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/sample_overlay.h"

#include "widgets/models/base/formatting.h"

#include <QPainter>

namespace qs {

namespace {

constexpr int kOverlaySide = 232; ///< pixels of the longer side

QImage scaled(const QImage& picture)
{
    return picture.convertToFormat(QImage::Format_RGB32)
        .scaled(kOverlaySide, kOverlaySide, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

QString boxLabel(const ClassNames& names, int64_t label) { return toQt(className(names, label)); }

} // namespace

std::vector<bool> matchedOf(const std::vector<std::pair<size_t, size_t>>& pairs, size_t count, bool second)
{
    std::vector<bool> matched(count, false);
    for (const auto& pair : pairs)
        matched[second ? pair.second : pair.first] = true;
    return matched;
}

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
        const QString text = boxLabel(names, box.label);
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

} // namespace qs
