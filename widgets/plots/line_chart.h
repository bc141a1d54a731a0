// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/choice_plot.h"

namespace qs {

/// Lines over numbered items, with gaps; a click or the arrow keys choose an item.
class LineChart : public ChoicePlot {
    Q_OBJECT
public:
    explicit LineChart(QWidget* parent = nullptr);

    void setData(const LineData& data);
    const LineData& data() const { return m_data; }
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    size_t itemCount() const override { return m_data.items.size(); }
    std::optional<size_t> itemAt(double x, double) const override { return numberAt(x); }
    double xOf(size_t item) const override { return double(item); }
    QString itemText(size_t item) const override;
    void markChosen() override { markByLine(); }
    void resizeEvent(QResizeEvent* event) override;

private:
    void addSeries(const LineSeries& series);
    void placeTickNames();

    LineData m_data;
};

} // namespace qs
