// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/panel.h"

class QPushButton;

namespace qs {

class HistogramPlot;
class Session;

/// Histogram of the selected tensor or weight: float, dequantized, noise, with the quantizer's range.
class DistributionPanel : public Panel {
    Q_OBJECT
public:
    explicit DistributionPanel(Session& session, QWidget* parent = nullptr);
    HistogramPlot& plot() const { return *m_plot; }

private:
    void refresh();
    void applyTheme();

    Session& m_session;
    HistogramPlot* m_plot;
    QPushButton* m_logarithmic;
};

} // namespace qs
