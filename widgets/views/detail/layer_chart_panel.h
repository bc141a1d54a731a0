// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"
#include "widgets/views/base/panel.h"

namespace qs {

class LineChart;
class Session;

/// Accumulated, added here and ideal along the float graph's order; a click selects the tensor.
class LayerChartPanel : public Panel {
    Q_OBJECT
public:
    explicit LayerChartPanel(Session& session, QWidget* parent = nullptr);
    LineChart& chart() const { return *m_chart; }

private:
    void refresh();
    void followSelection();
    void applyTheme();

    Session& m_session;
    LineChart* m_chart;
    std::optional<size_t> m_sample; ///< that the chart shows
};

/// One item a row of Comparison::activations.
/// With a line for a sample of its own, where one is given.
LineData layerChartData(const Snapshot& snapshot, const Theme& theme, std::optional<size_t> sample = {});

} // namespace qs
