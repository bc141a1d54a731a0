// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

namespace qs {

/// Points joined by a line; a click, or Enter on the one that the arrow keys mark, chooses one.
class PointChart : public PlotWidget {
    Q_OBJECT
public:
    explicit PointChart(QWidget* parent = nullptr);

    void setData(const PointData& data);
    const PointData& data() const { return m_data; }
    std::optional<size_t> marked() const { return m_marked; }
    void setMarked(std::optional<size_t> point); ///< emits nothing
    QString csv() const override;

signals:
    void pointChosen(size_t point);

protected:
    void rebuild() override;
    void fitAxes() override;
    std::optional<std::pair<double, QString>> readout(double x, double y) const override;
    void clicked(double x, double y) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    std::optional<size_t> pointAt(double x, double y) const; ///< nearest within reach

    PointData m_data;
    std::optional<size_t> m_marked;
};

} // namespace qs
