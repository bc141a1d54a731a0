// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_words.h"
#include "widgets/plots/series.h"

#include <QPicture>
#include <QWidget>

#include <map>

class QCPAxis;
class QCPItemStraightLine;
class QCustomPlot;

namespace qs {

class PlotCanvas;
class PlotLabel;

/// What every plot offers: zoom with the wheel, pan by dragging, reset by double click or Home, a crosshair with exact
/// values, and saving as PNG, SVG, PDF or CSV from the context menu.
class PlotWidget : public QWidget {
    Q_OBJECT
public:
    explicit PlotWidget(QWidget* parent);
    ~PlotWidget() override;

    void setStyle(const PlotStyle& style);
    /// Pales what is drawn: its numbers are not of the present state.
    void setDimmed(bool dimmed);
    bool dimmed() const;
    QRect axesArea() const; ///< within this widget, as it was drawn last
    /// Shows everything again.
    void resetView();
    /// Writes the picture or the numbers, by the file name's ending: png, svg, pdf, csv. False when it cannot.
    bool exportTo(const QString& path) const;
    /// The picture of that size in vectors, of a plot that need not be on the screen.
    QPicture vectors(QSize size);
    /// The numbers as comma separated values with a header line.
    virtual QString csv() const = 0;
    QSize minimumSizeHint() const override { return { 200, 80 }; }
    QSize sizeHint() const override { return { 420, 260 }; }

protected:
    QCustomPlot& plot() const;
    void redraw(); ///< in the next picture
    const PlotStyle& plotStyle() const { return m_style; }
    QString number(double value) const;
    /// Says to screen readers what is shown, as inWords() says it; of one part of it, the part.
    template <class Data> void describe(const Data& data)
    {
        m_words = inWords(data, [this](double value) { return number(value); });
        describePart({});
    }
    void describePart(const QString& part);
    /// Builds the plottables from the data and the style, then calls resetView().
    virtual void rebuild() = 0;
    virtual void fitAxes() = 0;
    /// Text beside the pointer for plot coordinates, with the x where the crosshair snaps to; empty = no crosshair.
    virtual std::optional<std::pair<double, QString>> readout(double x, double y) const = 0;
    virtual void clicked(double x, double y) = 0;
    /// Message instead of a plot; empty = show the plot.
    void showMessage(const QString& text);
    /// Ticks at round numbers, written by number().
    enum class TickNumbers { Any, Whole };
    void useLinearTicks(QCPAxis& axis, TickNumbers numbers = TickNumbers::Any);
    void useLogarithmicTicks(QCPAxis& axis); ///< at powers of ten
    /// What stands beside an axis, as much of it as the axis is long.
    void setAxisLabel(QCPAxis& axis, const QString& text);
    /// Height of the plot in lines of its text.
    double linesHigh() const;
    /// Puts the legend into a row below the axes.
    void placeLegendBelow();
    void showLegend(bool shown); ///< where it was placed, and as long as the plot is high enough
    void hideCrosshair(); ///< and what it says

    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    int tickCount(const QCPAxis& axis) const;
    void fitTexts();
    bool fitLegend();
    void applyStyle();
    void moveCrosshair(const QPoint& position);
    void showMenu(const QPoint& global);

    PlotStyle m_style;
    QString m_words; ///< all that is shown
    PlotCanvas* m_plot;
    PlotLabel* m_veil; ///< over a dimmed plot
    PlotLabel* m_readout;
    PlotLabel* m_message;
    QPoint m_pressed;
    std::map<QCPAxis*, QString> m_labels; ///< whole
    bool m_legendWanted = false;
    bool m_fitting = false; ///< a layout that fitTexts() asked for
    QCPItemStraightLine* m_crosshair; ///< owned by the plot
};

/// Text as one field of a CSV file: quoted where it must be.
QString csvCell(QString text);

} // namespace qs
