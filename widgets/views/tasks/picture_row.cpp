// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/picture_row.h"

#include "widgets/views/base/text/font_units.h"

#include <QPainter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kPictureGap = 8, kPictureMargin = 8;
constexpr int kLeastSide = 110; ///< font units: below it they stand one above the other

} // namespace

PictureRow::PictureRow(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    hide();
}

void PictureRow::show(std::vector<Shown> pictures, int most)
{
    m_pictures = std::move(pictures);
    m_most = most;
    setVisible(!m_pictures.empty());
    updateGeometry();
    update();
}

int PictureRow::columns(int width) const
{
    const auto count = int(m_pictures.size());
    const int least = std::min(m_most, fontUnits(fontMetrics(), kLeastSide));
    return width - 2 * kPictureMargin >= count * least + (count - 1) * kPictureGap ? std::max(count, 1) : 1;
}

int PictureRow::captionHeight() const
{
    const bool told = std::ranges::any_of(m_pictures, [](const Shown& shown) { return !shown.caption.isEmpty(); });
    return told ? fontMetrics().height() + kPictureGap / 2 : 0;
}

QSize PictureRow::sizeOf(const Shown& shown, int width) const
{
    const int across = columns(width);
    const int side
        = std::clamp((width - 2 * kPictureMargin - (across - 1) * kPictureGap) / across, 1, std::max(m_most, 1));
    return shown.image.size().scaled(side, m_most, Qt::KeepAspectRatio);
}

int PictureRow::heightForWidth(int width) const
{
    int height = kPictureMargin, row = 0;
    const int across = columns(width);
    for (size_t i = 0; i < m_pictures.size(); ++i) {
        row = std::max(row, sizeOf(m_pictures[i], width).height() + captionHeight());
        if (int(i) % across == across - 1 || i + 1 == m_pictures.size()) {
            height += row + (height > kPictureMargin ? kPictureGap : 0);
            row = 0;
        }
    }
    return height;
}

QSize PictureRow::sizeHint() const
{
    return { m_most + 2 * kPictureMargin, heightForWidth(m_most + 2 * kPictureMargin) };
}

QSize PictureRow::minimumSizeHint() const { return { 1, 1 }; }

void PictureRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    painter.setPen(palette().color(QPalette::WindowText));
    const int across = columns(width()), cell = (width() - 2 * kPictureMargin - (across - 1) * kPictureGap) / across;
    int top = kPictureMargin, row = 0;
    for (size_t i = 0; i < m_pictures.size(); ++i) {
        const int column = int(i) % across, left = kPictureMargin + column * (cell + kPictureGap);
        const QSize size = sizeOf(m_pictures[i], width());
        const QRect caption(left, top, cell, fontMetrics().height());
        painter.drawText(caption, Qt::AlignHCenter | Qt::AlignVCenter,
            fontMetrics().elidedText(m_pictures[i].caption, Qt::ElideRight, cell));
        const QRect place(QPoint(left + (cell - size.width()) / 2, top + captionHeight()), size);
        painter.drawImage(place, m_pictures[i].image);
        row = std::max(row, size.height() + captionHeight());
        if (column == across - 1) {
            top += row + kPictureGap;
            row = 0;
        }
    }
}

} // namespace qs

#include "moc_picture_row.cpp"
