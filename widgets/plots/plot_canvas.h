// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace qs {

/// Draws when it is painted, and only then: the base class draws at each change of size and at each wish, also behind a
/// tab and several times before the next picture, and a plot of thousands of points takes milliseconds.
class PlotCanvas : public QCustomPlot {
public:
    using QCustomPlot::QCustomPlot;
    /// Something changed that is to be seen in the next picture.
    void redraw()
    {
        m_outdated = true;
        update();
    }

protected:
    void resizeEvent(QResizeEvent*) override
    {
        setViewport(rect());
        redraw();
    }
    void paintEvent(QPaintEvent* event) override
    {
        if (std::exchange(m_outdated, false))
            replot(rpQueuedRefresh);
        QCustomPlot::paintEvent(event);
    }

private:
    bool m_outdated = false;
};

} // namespace qs
