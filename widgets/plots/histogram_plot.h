// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

class QCPAbstractItem;
class QCPGraph;
class QCPItemText;

namespace qs {

/// Histograms over each other, with the range that a quantizer can represent and the part beyond it shaded. The ends of
/// a movable range follow the mouse, or the arrow keys (with Shift the lower end); zero always stays inside.
class HistogramPlot : public PlotWidget {
    Q_OBJECT
public:
    explicit HistogramPlot(QWidget* parent = nullptr);
    ~HistogramPlot() override;

    void setData(const HistogramData& data);
    const HistogramData& data() const { return m_data; }
    void setScale(AxisScale scale);
    AxisScale scale() const { return m_scale; }
    /// Another range and its text, in the same view; emits nothing.
    void showRange(const PlotRange& range, const QString& label);
    void showTicks(std::vector<RangeTick> ticks);
    bool dragging() const { return m_held.has_value(); }
    QString csv() const override;

signals:
    void rangeDragged(const qs::PlotRange& range); ///< while the mouse holds an end
    void rangeReleased(const qs::PlotRange& range); ///< the mouse let go
    void rangeStepped(const qs::PlotRange& range); ///< by a key
    void binChosen(const qs::PlotRange& edges); ///< of the first series that has values there

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void rebuild() override;
    void fitAxes() override;
    std::optional<std::pair<double, QString>> readout(double x, double y) const override;
    void clicked(double x, double y) override;

private:
    enum class End { Low, High };
    std::optional<End> endAt(const QPointF& position) const;
    PlotRange moved(End end, double to) const;
    void labelXAxis();
    void rebuildRange();
    void addClippedBins();
    double handleAt(double end) const;
    void addHandle(double x);
    void addTicks();
    void placeTickLabels();
    void turnTickLabels(const std::vector<size_t>& byPosition, const std::vector<int>& more);
    QString tickText(size_t tick, int more, double room) const;
    double shownCount(const HistogramSeries& series, size_t bin) const;
    void addSeries(const HistogramSeries& series);
    void addRange();
    void addLine(double x, const QPen& pen);
    void addShade(double x, double side);
    QCPItemText* addLabel(const QString& text, const QColor& colour, bool bold);
    void placeLabels();
    void shortenRangeLabel();
    PlotRange dataRange() const;

    HistogramData m_data;
    AxisScale m_scale = AxisScale::Logarithmic;
    std::vector<QCPAbstractItem*> m_items; ///< owned by the plot
    QCPGraph* m_clipped = nullptr; ///< the filled bins beyond the range
    std::vector<QCPItemText*> m_tickLabels; ///< one a tick
    std::optional<End> m_held;
    PlotRange m_fitted { -1, 1 }; ///< what is shown, before somebody zooms
    QCPItemText* m_rangeLabel = nullptr;
    QCPItemText* m_observedLabel = nullptr;
};

} // namespace qs
