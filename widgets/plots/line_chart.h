// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

class QCPItemStraightLine;

namespace qs {

/// Lines over numbered items, with gaps; a click or the arrow keys choose an item.
class LineChart : public PlotWidget {
    Q_OBJECT
public:
    explicit LineChart(QWidget* parent = nullptr);
    ~LineChart() override;

    void setData(const LineData& data);
    const LineData& data() const { return m_data; }
    /// Marks an item; emits nothing.
    void setSelected(std::optional<size_t> item);
    std::optional<size_t> selected() const { return m_selected; }
    QString csv() const override;

signals:
    void itemClicked(size_t item);

protected:
    void rebuild() override;
    void fitAxes() override;
    std::optional<std::pair<double, QString>> readout(double x, double y) const override;
    void clicked(double x, double y) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    std::optional<size_t> itemAt(double x) const;
    void addSeries(const LineSeries& series);
    void placeMarker();

    LineData m_data;
    std::optional<size_t> m_selected;
    QCPItemStraightLine* m_marker; ///< owned by the plot
};

} // namespace qs
