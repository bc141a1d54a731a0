// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

/// Plain values that plots draw; nothing here knows the plotting library.
namespace qs {

/// Colours and number texts of a plot.
struct PlotStyle {
    QColor background { Qt::white };
    QColor text { Qt::black };
    QColor muted { Qt::gray };
    QColor grid { Qt::lightGray };
    QColor border { Qt::gray };
    QColor accent { Qt::blue };
    QColor clipping { 213, 94, 0 };
    std::function<QString(double)> number; ///< text of a number; null: four significant digits
};

enum class AxisScale { Linear, Logarithmic };

/// Counts between edges; bins may have different widths.
struct HistogramSeries {
    enum class Look { Filled, Outline, Dashed };
    QString name;
    std::vector<double> edges; ///< ascending, one more than counts
    std::vector<double> counts;
    QColor colour;
    Look look = Look::Filled;
};

using PlotRange = std::pair<double, double>;

/// Where something else would put the range: a short line at each end, with a text at the upper one.
struct RangeTick {
    PlotRange range;
    QString label; ///< "entropy 31.0 dB"
};

struct HistogramData {
    std::vector<HistogramSeries> series;
    /// Width that counts are shown for, so that bins of different width compare; 0 = the first series' first bin.
    double referenceWidth = 0;
    std::optional<PlotRange> representable; ///< lines, shaded beyond
    QString representableLabel; ///< "range 6.10 · clips 11.8 %"
    bool movable = false; ///< its ends can be dragged
    bool symmetric = false; ///< both ends move together
    std::vector<RangeTick> ticks;
    std::optional<PlotRange> observed; ///< thin lines
    QString observedLabel;
    QString xLabel;
    QString emptyText; ///< shown when there is no series
};

struct PointData {
    struct Point {
        double x = 0, y = 0;
        QString text; ///< beside the pointer
    };
    std::vector<Point> points; ///< joined in this order
    QString xLabel, yLabel;
    bool xReversed = false;
    QString emptyText;
};

struct LineSeries {
    QString name;
    std::vector<double> values; ///< one an item; NaN = none
    QColor colour;
    bool dashed = false;
    bool bridgeGaps = false; ///< the line goes on over items without a value
};

struct LineData {
    std::vector<QString> items; ///< names along x
    std::vector<LineSeries> series;
    QString unit; ///< "dB"
    QString emptyText;
};

} // namespace qs
