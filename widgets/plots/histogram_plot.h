// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

class QCPAbstractItem;
class QCPItemText;

namespace qs {

/// Histograms over each other, with the range that a quantizer can represent and the part beyond it shaded.
class HistogramPlot : public PlotWidget {
    Q_OBJECT
public:
    explicit HistogramPlot(QWidget* parent = nullptr);
    ~HistogramPlot() override;

    void setData(const HistogramData& data);
    const HistogramData& data() const { return m_data; }
    void setScale(AxisScale scale);
    AxisScale scale() const { return m_scale; }
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    std::optional<std::pair<double, QString>> readout(double x, double y) const override;
    void clicked(double, double) override { }

private:
    double shownCount(const HistogramSeries& series, size_t bin) const;
    void addSeries(const HistogramSeries& series);
    void addRange();
    void addLine(double x, const QPen& pen);
    void addShade(double x, double side);
    QCPItemText* addLabel(const QString& text, const QColor& colour, bool bold);
    void placeLabels();
    PlotRange dataRange() const;

    HistogramData m_data;
    AxisScale m_scale = AxisScale::Logarithmic;
    std::vector<QCPAbstractItem*> m_items; ///< owned by the plot
    QCPItemText* m_rangeLabel = nullptr;
    QCPItemText* m_observedLabel = nullptr;
};

} // namespace qs
