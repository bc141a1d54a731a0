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
    QString name; ///< "entropy"
    QString number; ///< "31.0 dB"; left out where there is no room
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

struct PlotLine {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

struct PointData {
    struct Point {
        double x = 0, y = 0;
        QString text; ///< beside the pointer
        bool stands = false; ///< in the colour that warns, filled
    };
    std::vector<Point> points;
    /// The same things by a second measure, drawn as squares, one a point; or none. Their texts are those of `points`.
    std::vector<Point> others;
    QString name, otherName; ///< in the legend, where there are others
    QColor otherColour;
    bool joined = true; ///< in this order
    std::vector<PlotLine> lines; ///< thin and dashed, behind the points
    QString xLabel, yLabel;
    bool xReversed = false;
    QString emptyText;
};

/// Colour of a share 0..1 of a scale.
using ColourOf = std::function<QColor(double)>;

/// A picture of numbers, first row at the top.
struct HeatData {
    size_t rows = 0, columns = 0;
    std::vector<double> values; ///< row-major; NaN = none
    double low = 0, high = 1; ///< ends of the colours
    ColourOf colour;
    QString rowName, columnName, valueName; ///< for the text beside the pointer: "y", "x", "RMS error"
    double rowStep = 1, columnStep = 1; ///< rows and columns of the data that a cell stands for
    QString emptyText;
};

/// Ranges of numbered channels above a strip of colours.
struct ChannelData {
    struct Channel {
        double low = 0, high = 0; ///< of the values
        std::optional<PlotRange> representable;
        QColor colour; ///< of its cell in the strip; invalid = none
        QColor below; ///< of a second strip under it; invalid = none
        QString text; ///< beside the pointer
    };
    std::vector<Channel> channels;
    std::optional<PlotRange> representable; ///< one for all
    QString xLabel, yLabel;
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
    std::vector<QString> ticks; ///< short names below the items; empty = none
    QString xLabel;
    QString emptyText;
};

} // namespace qs
