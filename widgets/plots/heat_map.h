// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

class QCPColorMap;
class QCPItemRect;

namespace qs {

/// Numbers over rows and columns as colours.
class HeatMap : public PlotWidget {
    Q_OBJECT
public:
    explicit HeatMap(QWidget* parent = nullptr);

    void setData(const HeatData& data);
    const HeatData& data() const { return m_data; }
    /// Frames these rows and columns of the whole; none: nothing.
    void mark(const std::optional<QRectF>& columnsAndRows);
    QString csv() const override;

signals:
    /// What a cell stands for: so many rows and columns of the whole, from these on.
    void cellChosen(qint64 row, qint64 rows, qint64 column, qint64 columns);

protected:
    void rebuild() override;
    void fitAxes() override;
    std::optional<std::pair<double, QString>> readout(double x, double y) const override;
    void clicked(double x, double y) override;

private:
    std::optional<std::pair<size_t, size_t>> cellAt(double x, double y) const; ///< row and column
    HeatData m_data;
    QCPColorMap* m_map; ///< owned by the plot
    QCPItemRect* m_mark; ///< owned by the plot
};

} // namespace qs
