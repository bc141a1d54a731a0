// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/session/shown/theme.h"

#include <QWidget>

#include <utility>

namespace qs {

using ColourLimits = std::pair<double, double>;

/// One line below the graph: colours of the chosen number with its fixed limits; a click edits the limits.
class GraphLegend : public QWidget {
    Q_OBJECT
public:
    explicit GraphLegend(QWidget* parent = nullptr);
    /// `whose`: what the numbers are of, where not of all samples.
    void setScale(Metric metric, ColourLimits limits, const Theme& theme, const QString& whose = {});
    void editLimits();
    QSize sizeHint() const override { return { 420, 26 }; }
    QSize minimumSizeHint() const override { return { 160, 26 }; }

signals:
    void limitsChanged(qs::Metric metric, qs::ColourLimits limits);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    Metric m_metric = Metric::Accumulated;
    ColourLimits m_limits { 0, 40 };
    Theme m_theme = Theme::light();
    QString m_whose;
};

/// Colour of a number within limits.
QColor metricColour(const Theme& theme, Metric metric, double value, ColourLimits limits);

} // namespace qs
