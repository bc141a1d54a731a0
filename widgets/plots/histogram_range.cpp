// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the histogram that shows ranges: the quantizer's, which can be dragged, and those of calibrators.
#include "widgets/plots/histogram_look.h"
#include "widgets/plots/histogram_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace qs {

namespace {

constexpr double kGrabDistance = 7; ///< pixels beside an end that still hold it
constexpr double kHandleHeight = 0.55, kHandleSize = 11; ///< share of the axes from the top; pixels
constexpr double kKeyStep = 0.01; ///< of the range
constexpr double kTickAngle = -60, kTickTop = 0.72; ///< degrees; share of the axes from the top
constexpr double kLeastTickRoom = 8; ///< height in lines without which ticks have no texts
constexpr int kLabelPadding = 3;
const QString kPartBorder = QStringLiteral(" · ");

} // namespace

/// All that follows from the range and the ticks.
void HistogramPlot::rebuildRange()
{
    for (QCPAbstractItem* item : m_items)
        plot().removeItem(item);
    m_items.clear();
    m_tickLabels.clear();
    m_rangeLabel = m_observedLabel = nullptr;
    if (m_clipped)
        plot().removeGraph(m_clipped);
    m_clipped = nullptr;
    if (m_data.series.empty())
        return;
    addClippedBins();
    addRange();
    addTicks();
    redraw();
}

/// The bins of the first series that reach beyond the range, in the colour of clipping.
void HistogramPlot::addClippedBins()
{
    const HistogramSeries& series = m_data.series.front();
    if (!m_data.representable)
        return;
    const auto [low, high] = *m_data.representable;
    const double floor = m_scale == AxisScale::Logarithmic ? kLogFloor : 0;
    QVector<double> x, y;
    for (size_t bin = 0; bin < series.counts.size(); ++bin) {
        const double left = series.edges[bin], right = series.edges[bin + 1];
        const bool clipped = (left < low || right > high) && series.counts[bin] > 0;
        const double height = clipped ? std::max(floor, shownCount(series, bin)) : floor;
        if (clipped && left < high && right > high) { // the range ends inside
            x << left << high;
            y << floor << height;
        } else if (clipped && left < low && right > low) {
            x << left << low;
            y << height << floor;
        } else {
            x << left;
            y << height;
        }
    }
    if (series.counts.empty() || *std::max_element(y.begin(), y.end()) <= floor)
        return;
    x << series.edges.back();
    y << floor;
    m_clipped = plot().addGraph();
    m_clipped->setName(tr("clipped"));
    m_clipped->removeFromLegend();
    m_clipped->setLineStyle(QCPGraph::lsStepLeft);
    m_clipped->setAdaptiveSampling(false);
    m_clipped->setData(x, y, true);
    m_clipped->setPen(Qt::NoPen);
    m_clipped->setBrush(translucent(plotStyle().clipping, 110));
}

/// An end that lies beyond what is shown of a range far wider than the data is held at the edge.
double HistogramPlot::handleAt(double end) const { return std::clamp(end, m_fitted.first, m_fitted.second); }

void HistogramPlot::addHandle(double x)
{
    auto* handle = new QCPItemEllipse(&plot());
    for (QCPItemPosition* corner : { handle->topLeft, handle->bottomRight })
        corner->setType(QCPItemPosition::ptAbsolute);
    auto* centre = new QCPItemTracer(&plot());
    centre->setStyle(QCPItemTracer::tsNone);
    centre->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    centre->position->setCoords(x, kHandleHeight);
    handle->topLeft->setParentAnchor(centre->position);
    handle->bottomRight->setParentAnchor(centre->position);
    handle->topLeft->setCoords(-kHandleSize / 2, -kHandleSize / 2);
    handle->bottomRight->setCoords(kHandleSize / 2, kHandleSize / 2);
    handle->setPen(QPen(plotStyle().clipping, 2));
    handle->setBrush(plotStyle().background);
    m_items.push_back(centre);
    m_items.push_back(handle);
}

void HistogramPlot::addTicks()
{
    const QPen pen(plotStyle().muted, 1, Qt::DashLine);
    for (const RangeTick& tick : m_data.ticks) {
        for (const double end : { tick.range.first, tick.range.second }) {
            auto* line = new QCPItemLine(&plot());
            for (QCPItemPosition* point : { line->start, line->end })
                point->setTypeY(QCPItemPosition::ptAxisRectRatio);
            line->start->setCoords(end, kTickTop);
            line->end->setCoords(end, 1);
            line->setPen(pen);
            m_items.push_back(line);
        }
        QCPItemText* label = addLabel(tick.name, plotStyle().muted, false);
        label->setRotation(kTickAngle);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
        m_tickLabels.push_back(label);
    }
}

/// Ticks that lie too close for two texts share that of the first, which says how many more there are if it has room.
void HistogramPlot::placeTickLabels()
{
    const QRect area = plot().axisRect()->rect();
    std::vector<size_t> order(m_data.ticks.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::stable_sort(order, {}, [this](size_t i) { return m_data.ticks[i].range.second; });
    const double line = fontMetrics().height(); // what lies closer cannot be told apart
    std::vector<int> more(m_data.ticks.size(), 0); // ticks that share the text of this one
    std::optional<size_t> last;
    double lastAt = 0;
    for (const size_t i : order) {
        const double at = plot().xAxis->coordToPixel(m_data.ticks[i].range.second);
        const bool inSight = at >= area.left() && at <= area.right() + 1 && area.height() >= kLeastTickRoom * line;
        const bool shares = inSight && last && at - lastAt < line;
        m_tickLabels[i]->setVisible(inSight && !shares);
        if (shares)
            ++more[*last];
        if (!inSight || shares)
            continue;
        last = i;
        lastAt = at;
    }
    turnTickLabels(order, more);
}

/// As much of the text as fits; "" where not even the name does.
QString HistogramPlot::tickText(size_t tick, int more, double room) const
{
    const RangeTick& shown = m_data.ticks[tick];
    const QFontMetrics metrics(m_tickLabels[tick]->font());
    const QString whole = shown.name + u' ' + shown.number;
    QStringList texts { whole, shown.name };
    if (more > 0)
        texts.prepend(tr("%1, +%2 more").arg(whole).arg(more));
    const auto fits
        = std::ranges::find_if(texts, [&](const QString& t) { return metrics.horizontalAdvance(t) <= room; });
    return fits == texts.end() ? QString() : *fits;
}

/// Texts rise to the right; near the edge, and where they would run into one at the edge, they stand upright.
void HistogramPlot::turnTickLabels(const std::vector<size_t>& byPosition, const std::vector<int>& more)
{
    const QRect area = plot().axisRect()->rect();
    const double bottom = area.bottom() - area.height() * (1 - kTickTop) - 2;
    const double room = bottom - area.top() - 4; // in height
    double end = area.right(); // where the room for texts ends
    for (size_t k = byPosition.size(); k-- > 0;) {
        const size_t tick = byPosition[k];
        QCPItemText* label = m_tickLabels[tick];
        if (!label->visible())
            continue;
        const double at = plot().xAxis->coordToPixel(m_data.ticks[tick].range.second);
        QString text = tickText(tick, more[tick], room / std::sin(-kTickAngle * std::numbers::pi / 180));
        const double wide = QFontMetrics(label->font()).horizontalAdvance(text) + 8;
        const bool leans = end - at > wide / 2;
        if (!leans) {
            text = tickText(tick, more[tick], room);
            end = at - fontMetrics().height();
        }
        label->setText(text);
        label->setVisible(!text.isEmpty());
        label->setRotation(leans ? kTickAngle : -90);
        label->position->setCoords(leans ? at + 2 : at - 1, bottom);
    }
}

std::optional<HistogramPlot::End> HistogramPlot::endAt(const QPointF& position) const
{
    if (!m_data.movable || !m_data.representable || !plot().axisRect()->rect().contains(position.toPoint()))
        return std::nullopt;
    const double low = std::fabs(plot().xAxis->coordToPixel(handleAt(m_data.representable->first)) - position.x());
    const double high = std::fabs(plot().xAxis->coordToPixel(handleAt(m_data.representable->second)) - position.x());
    if (std::min(low, high) > kGrabDistance)
        return std::nullopt;
    return high <= low ? End::High : End::Low;
}

PlotRange HistogramPlot::moved(End end, double to) const
{
    PlotRange range = *m_data.representable;
    const double least = (range.second - range.first) * 1e-6; // a range is never empty
    if (m_data.symmetric) {
        const double reach = std::max(end == End::High ? to : -to, least);
        return { -reach, reach };
    }
    if (end == End::High)
        range.second = std::max(to, range.first < 0 ? 0.0 : least);
    else
        range.first = std::min(to, range.second > 0 ? 0.0 : -least);
    return range;
}

bool HistogramPlot::eventFilter(QObject* watched, QEvent* event)
{
    const bool ofMouse = event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseMove
        || event->type() == QEvent::MouseButtonRelease;
    if (watched != &plot() || !ofMouse)
        return PlotWidget::eventFilter(watched, event);
    const auto* mouse = static_cast<QMouseEvent*>(event);
    if (event->type() == QEvent::MouseButtonPress && mouse->button() == Qt::LeftButton) {
        m_held = endAt(mouse->position());
        if (m_held) {
            hideCrosshair();
            setFocus(Qt::MouseFocusReason);
            return true; // the axes do not move
        }
    } else if (event->type() == QEvent::MouseMove && m_held) {
        emit rangeDragged(moved(*m_held, plot().xAxis->pixelToCoord(mouse->position().x())));
        return true;
    } else if (event->type() == QEvent::MouseMove) {
        plot().setCursor(endAt(mouse->position()) ? Qt::SplitHCursor : Qt::ArrowCursor);
    } else if (event->type() == QEvent::MouseButtonRelease && m_held) {
        const End end = *m_held;
        m_held.reset();
        emit rangeReleased(moved(end, plot().xAxis->pixelToCoord(mouse->position().x())));
        return true;
    }
    return PlotWidget::eventFilter(watched, event);
}

void HistogramPlot::keyPressEvent(QKeyEvent* event)
{
    const bool arrow = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
    if (!arrow || !m_data.movable || !m_data.representable)
        return PlotWidget::keyPressEvent(event);
    const auto [low, high] = *m_data.representable;
    const double step = (high - low) * kKeyStep * (event->key() == Qt::Key_Left ? -1 : 1);
    const bool lower = event->modifiers() & Qt::ShiftModifier;
    emit rangeStepped(lower ? moved(End::Low, low + step) : moved(End::High, high + step));
}

void HistogramPlot::addRange()
{
    const QPen thin(plotStyle().muted, 1, Qt::DashLine), strong(plotStyle().clipping, 2);
    if (m_data.observed) {
        addLine(m_data.observed->first, thin);
        addLine(m_data.observed->second, thin);
    }
    if (m_data.representable) {
        addShade(m_data.representable->first, 0);
        addShade(m_data.representable->second, 1);
        addLine(m_data.representable->first, strong);
        addLine(m_data.representable->second, strong);
        if (m_data.movable) {
            addHandle(handleAt(m_data.representable->first));
            addHandle(handleAt(m_data.representable->second));
        }
    }
    // after the lines, which would strike them through
    if (m_data.observed && !m_data.observedLabel.isEmpty())
        m_observedLabel = addLabel(m_data.observedLabel, plotStyle().muted, false);
    if (m_data.representable && !m_data.representableLabel.isEmpty())
        m_rangeLabel = addLabel(m_data.representableLabel, plotStyle().clipping, true);
}

void HistogramPlot::addLine(double x, const QPen& pen)
{
    auto* line = new QCPItemStraightLine(&plot());
    for (QCPItemPosition* point : { line->point1, line->point2 })
        point->setTypeY(QCPItemPosition::ptAxisRectRatio);
    line->point1->setCoords(x, 0);
    line->point2->setCoords(x, 1);
    line->setPen(pen);
    m_items.push_back(line);
}

/// Shades from x to the left (side 0) or right (side 1) end of the axes.
void HistogramPlot::addShade(double x, double side)
{
    auto* shade = new QCPItemRect(&plot());
    shade->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    shade->bottomRight->setType(QCPItemPosition::ptAxisRectRatio);
    shade->topLeft->setCoords(x, 0);
    shade->bottomRight->setCoords(side, 1);
    shade->setPen(Qt::NoPen);
    shade->setBrush(translucent(plotStyle().clipping, 24));
    shade->setLayer(QStringLiteral("grid"));
    m_items.push_back(shade);
}

QCPItemText* HistogramPlot::addLabel(const QString& text, const QColor& colour, bool bold)
{
    auto* label = new QCPItemText(&plot());
    label->position->setType(QCPItemPosition::ptAbsolute);
    QFont labelFont = font();
    labelFont.setBold(bold);
    label->setFont(labelFont);
    label->setColor(colour);
    label->setText(text);
    label->setBrush(translucent(plotStyle().background, 215));
    label->setPadding(QMargins(kLabelPadding, 1, kLabelPadding, 1));
    m_items.push_back(label);
    return label;
}

/// What stands first matters most; parts that have no room go.
void HistogramPlot::shortenRangeLabel()
{
    if (!m_rangeLabel)
        return;
    const QFontMetrics metrics(m_rangeLabel->font());
    const int room = plot().axisRect()->right() - 2 * kLabelPadding;
    QString text = m_data.representableLabel;
    for (qsizetype part = text.lastIndexOf(kPartBorder); part > 0 && metrics.horizontalAdvance(text) > room;
         part = text.lastIndexOf(kPartBorder))
        text.truncate(part);
    m_rangeLabel->setText(metrics.elidedText(text, Qt::ElideRight, room));
}

/// Both share a line above the axes, where they hide nothing; where that is too narrow, the range's own stays.
void HistogramPlot::placeLabels()
{
    const QRect area = plot().axisRect()->rect();
    shortenRangeLabel();
    const auto width = [](const QCPItemText* label) {
        return label ? QFontMetrics(label->font()).horizontalAdvance(label->text()) + 2 * kLabelPadding : 0;
    };
    const auto place = [&](QCPItemText* label, int x) {
        label->setClipToAxisRect(false);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
        label->position->setCoords(x, area.top());
    };
    const int left
        = m_rangeLabel ? std::max(0, std::min(area.left(), area.right() - width(m_rangeLabel))) : area.left();
    if (m_rangeLabel)
        place(m_rangeLabel, left);
    if (m_observedLabel) {
        const int right = area.right() - width(m_observedLabel);
        m_observedLabel->setVisible(right >= left + width(m_rangeLabel));
        place(m_observedLabel, right);
    }
    placeTickLabels();
}

} // namespace qs
