// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/token_flow.h"

#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_tips.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace qs {

namespace {

constexpr int kFlowMargin = 8, kBoxPad = 4, kBoxGap = 2, kFlowRowGap = 4, kLineGap = 8; ///< font units
constexpr int kLeastBox = 8; ///< font units: what adds nothing to the text can still be chosen
constexpr double kPale = 0.45;

} // namespace

TokenFlow::TokenFlow(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Tokens"));
}

void TokenFlow::setLines(std::vector<TokenLine> lines)
{
    m_lines = std::move(lines);
    if (m_chosen && (m_chosen->line >= m_lines.size() || m_chosen->token >= m_lines[m_chosen->line].boxes.size()))
        choose(std::nullopt);
    place();
}

void TokenFlow::setStyle(const Theme& theme)
{
    m_theme = theme;
    update();
}

void TokenFlow::setStale(bool stale)
{
    m_stale = stale;
    update();
}

void TokenFlow::choose(const std::optional<Place>& place)
{
    if (m_chosen == place)
        return;
    m_chosen = place;
    setAccessibleDescription(place ? m_lines[place->line].boxes[place->token].tip : QString());
    update();
    emit chosenChanged();
}

QRect TokenFlow::boxAt(const Place& place) const { return m_placed.boxes[place.line][place.token]; }

TokenFlow::Placed TokenFlow::placed(int width) const
{
    const QFontMetrics metrics = fontMetrics();
    const auto units = [&](int u) { return fontUnits(metrics, u); };
    const int left = units(kFlowMargin), right = std::max(width - left, left + 1), high = metrics.height() + units(4);
    Placed placed;
    int y = units(kFlowMargin);
    for (const TokenLine& line : m_lines) {
        placed.captions.emplace_back(left, y, right - left, metrics.height());
        y += metrics.height() + units(kFlowRowGap);
        int x = left;
        std::vector<QRect> boxes;
        for (const TokenBox& box : line.boxes) {
            const int wide = std::max(metrics.horizontalAdvance(box.text) + 2 * units(kBoxPad), units(kLeastBox));
            if (x > left && x + wide > right) {
                x = left;
                y += high + units(kFlowRowGap);
            }
            boxes.emplace_back(x, y, std::min(wide, right - left), high);
            x += wide + units(kBoxGap);
        }
        placed.boxes.push_back(std::move(boxes));
        y += high + units(kLineGap);
    }
    placed.height = y;
    return placed;
}

void TokenFlow::place()
{
    m_placed = placed(width());
    updateGeometry();
    update();
}

int TokenFlow::heightForWidth(int width) const { return placed(width).height; }

QSize TokenFlow::sizeHint() const { return { fontUnits(fontMetrics(), 400), m_placed.height }; }

void TokenFlow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_placed = placed(width());
}

void TokenFlow::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        place();
}

void TokenFlow::paintEvent(QPaintEvent* event)
{
    QPainter painter(this);
    painter.setOpacity(m_stale ? kPale : 1);
    for (size_t line = 0; line < m_lines.size(); ++line) {
        painter.setPen(m_theme.muted);
        painter.drawText(m_placed.captions[line], Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(m_lines[line].caption, Qt::ElideRight, m_placed.captions[line].width()));
        for (size_t i = 0; i < m_lines[line].boxes.size(); ++i)
            if (const QRect& rect = m_placed.boxes[line][i]; rect.intersects(event->rect()))
                paintBox(painter, m_lines[line].boxes[i], rect, m_chosen == Place { line, i });
    }
}

void TokenFlow::paintBox(QPainter& painter, const TokenBox& box, const QRect& rect, bool chosen) const
{
    const QColor ground = box.badness ? m_theme.difference(-*box.badness) : m_theme.raised;
    painter.fillRect(rect, ground);
    painter.setPen(box.muted ? m_theme.muted : box.badness ? Theme::textOn(ground) : m_theme.text);
    painter.drawText(rect, Qt::AlignCenter, fontMetrics().elidedText(box.text, Qt::ElideRight, rect.width()));
    const int thick = fontUnits(fontMetrics(), 3);
    if (box.flipped)
        painter.fillRect(QRect(rect.left(), rect.bottom() + 1 - thick, rect.width(), thick),
            box.badness ? Theme::textOn(ground) : m_theme.text);
    if (!chosen)
        return;
    painter.setPen(QPen(hasFocus() ? m_theme.accent : m_theme.text, 2));
    painter.drawRect(rect.adjusted(0, 0, -1, -1));
}

std::optional<TokenFlow::Place> TokenFlow::placeAt(const QPoint& point) const
{
    for (size_t line = 0; line < m_placed.boxes.size(); ++line)
        for (size_t i = 0; i < m_placed.boxes[line].size(); ++i)
            if (m_placed.boxes[line][i].contains(point))
                return Place { line, i };
    return std::nullopt;
}

void TokenFlow::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton || event->button() == Qt::RightButton)
        if (const auto at = placeAt(event->position().toPoint()))
            choose(at);
}

void TokenFlow::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && placeAt(event->position().toPoint()))
        emit activated();
}

/// To the next token (1) or the one before (-1), from line to line.
void TokenFlow::step(int by)
{
    std::vector<Place> all;
    for (size_t line = 0; line < m_lines.size(); ++line)
        for (size_t i = 0; i < m_lines[line].boxes.size(); ++i)
            all.push_back({ line, i });
    if (all.empty())
        return;
    const auto now = m_chosen ? std::ranges::find(all, *m_chosen) : all.end();
    const auto at = now == all.end() ? (by > 0 ? -1 : ptrdiff_t(all.size())) : now - all.begin();
    choose(all[size_t(std::clamp<ptrdiff_t>(at + by, 0, ptrdiff_t(all.size()) - 1))]);
}

void TokenFlow::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Right:
        return step(1);
    case Qt::Key_Left:
        return step(-1);
    case Qt::Key_Home:
        choose(std::nullopt);
        return step(1);
    case Qt::Key_End:
        choose(std::nullopt);
        return step(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_chosen)
            emit activated();
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool TokenFlow::event(QEvent* event)
{
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        update();
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto& help = static_cast<QHelpEvent&>(*event);
    const auto at = placeAt(help.pos());
    if (at)
        QToolTip::showText(help.globalPos(), wrappedTip(m_lines[at->line].boxes[at->token].tip), this, boxAt(*at));
    else
        QToolTip::hideText();
    return true;
}

} // namespace qs

#include "moc_token_flow.cpp"
