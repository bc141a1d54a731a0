// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/channel_chart.h"

#include "widgets/plots/stair_graph.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kStripTop = 0.93; ///< share of the axes from the top where the strip begins
constexpr double kMostWiden = 4; ///< what is representable is shown whole up to that many times the data

} // namespace

ChannelChart::ChannelChart(QWidget* parent)
    : ChoicePlot(Arrows::Choose, parent)
{
    setAccessibleName(tr("Channels"));
    plot().legend->setVisible(false);
    plot().xAxis->grid()->setVisible(false);
}

void ChannelChart::setData(const ChannelData& data)
{
    m_data = data;
    itemsChanged();
    describe(m_data);
    rebuild();
}

void ChannelChart::rebuild()
{
    plot().clearGraphs();
    for (int i = plot().itemCount() - 1; i >= 0; --i)
        if (qobject_cast<QCPItemRect*>(plot().item(i)))
            plot().removeItem(plot().item(i));
    showMessage(m_data.channels.empty() ? m_data.emptyText : QString());
    useLinearTicks(*plot().xAxis, TickNumbers::Whole);
    useLinearTicks(*plot().yAxis);
    setAxisLabel(*plot().xAxis, m_data.xLabel);
    setAxisLabel(*plot().yAxis, m_data.yLabel);
    addBars();
    addRepresentable();
    addStrips();
    markChosen();
    resetView();
}

/// The space between two stairs.
void ChannelChart::addBars()
{
    QVector<double> x, low, high;
    for (size_t i = 0; i < m_data.channels.size(); ++i) {
        x << double(i) - 0.5;
        low << m_data.channels[i].low;
        high << m_data.channels[i].high;
    }
    if (x.isEmpty())
        return;
    x << x.back() + 1;
    low << low.back();
    high << high.back();
    QCPGraph* lower = new StairGraph(plot(), StairGraph::Keep::Least);
    QCPGraph* upper = new StairGraph(plot(), StairGraph::Keep::Greatest);
    for (QCPGraph* graph : { lower, upper })
        graph->setPen(QPen(plotStyle().accent, 1));
    lower->setData(x, low, true);
    upper->setData(x, high, true);
    QColor fill = plotStyle().accent;
    fill.setAlpha(70);
    upper->setBrush(fill);
    upper->setChannelFillGraph(lower);
}

void ChannelChart::addRepresentable()
{
    QVector<double> x, low, high;
    const auto add = [&](double at, const PlotRange& range) {
        x << at;
        low << range.first;
        high << range.second;
    };
    const auto count = double(m_data.channels.size());
    if (m_data.representable) {
        add(-0.5, *m_data.representable);
        add(count - 0.5, *m_data.representable);
    } else {
        for (size_t i = 0; i < m_data.channels.size(); ++i)
            if (m_data.channels[i].representable)
                add(double(i) - 0.5, *m_data.channels[i].representable);
        if (!x.isEmpty()) {
            x << x.back() + 1;
            low << low.back();
            high << high.back();
        }
    }
    for (const auto& [y, keep] :
        { std::pair(low, StairGraph::Keep::Least), std::pair(high, StairGraph::Keep::Greatest) }) {
        auto* graph = new StairGraph(plot(), keep);
        graph->setPen(QPen(plotStyle().clipping, 1.6));
        graph->setData(x, y, true);
    }
}

void ChannelChart::addStrips()
{
    using Channel = ChannelData::Channel;
    const bool two
        = std::ranges::any_of(m_data.channels, [](const Channel& channel) { return channel.below.isValid(); });
    const double middle = (kStripTop + 1) / 2;
    addStrip(&Channel::colour, kStripTop, two ? middle : 1);
    if (two)
        addStrip(&Channel::below, middle, 1);
}

void ChannelChart::addStrip(QColor ChannelData::Channel::*colour, double top, double bottom)
{
    for (size_t i = 0; i < m_data.channels.size(); ++i) {
        const QColor& own = m_data.channels[i].*colour;
        if (!own.isValid())
            continue;
        size_t last = i; // neighbours of one colour are one rectangle
        while (last + 1 < m_data.channels.size() && m_data.channels[last + 1].*colour == own)
            ++last;
        auto* cell = new QCPItemRect(&plot());
        for (QCPItemPosition* corner : { cell->topLeft, cell->bottomRight })
            corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
        cell->topLeft->setCoords(double(i) - 0.5, top);
        cell->bottomRight->setCoords(double(last) + 0.5, bottom);
        cell->setPen(Qt::NoPen);
        cell->setBrush(own);
        i = last;
    }
}

void ChannelChart::fitAxes()
{
    double low = 0, high = 0;
    for (const ChannelData::Channel& channel : m_data.channels) {
        low = std::min(low, channel.low);
        high = std::max(high, channel.high);
    }
    const double room = (high - low) * (kMostWiden - 1);
    const auto widen = [&](const std::optional<PlotRange>& range) {
        if (range) {
            low = std::min(low, std::max(range->first, low - room));
            high = std::max(high, std::min(range->second, high + room));
        }
    };
    widen(m_data.representable);
    for (const ChannelData::Channel& channel : m_data.channels)
        widen(channel.representable);
    if (low == high)
        high = low + 1;
    const double pad = (high - low) * 0.05;
    plot().yAxis->setRange(low - pad - (high - low) * (1 - kStripTop) * 1.3, high + pad); // the strip lies below
    plot().xAxis->setRange(-0.5, std::max<double>(1, double(m_data.channels.size())) - 0.5);
}

QString ChannelChart::csv() const
{
    QString text = QStringLiteral("channel,low,high,text\n");
    for (size_t i = 0; i < m_data.channels.size(); ++i)
        text += QStringLiteral("%1,%2,%3,%4\n")
                    .arg(i)
                    .arg(m_data.channels[i].low, 0, 'g', 17)
                    .arg(m_data.channels[i].high, 0, 'g', 17)
                    .arg(csvCell(QString(m_data.channels[i].text).replace(u'\n', u' ')));
    return text;
}

} // namespace qs

#include "moc_channel_chart.cpp"
