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

    /// Lays out once more, so that ticks and their texts are those of what was set after the last layout.
    void layOutAgain() { updateLayout(); }

protected:
    void resizeEvent(QResizeEvent*) override
    {
        setViewport(rect());
        redraw();
    }
    void paintEvent(QPaintEvent* event) override
    {
        if (const double scale = devicePixelRatioF(); scale != bufferDevicePixelRatio()) { // another screen
            setBufferDevicePixelRatio(scale);
            m_outdated = true;
        }
        if (std::exchange(m_outdated, false)) {
            for (int round = 0; round < kMostLayouts; ++round) {
                forgetMargins();
                updateLayout();
                if (!std::exchange(m_outdated, false))
                    break;
            }
            forgetMargins();
            replot(rpQueuedRefresh);
            m_outdated = false;
        }
        QCustomPlot::paintEvent(event);
    }

private:
    /// Axes keep the room of texts that they had before; changing a length makes them measure those of now.
    void forgetMargins()
    {
        for (QCPAxis* axis : { xAxis, yAxis }) {
            const int padding = axis->tickLabelPadding();
            axis->setTickLabelPadding(padding + 1);
            axis->setTickLabelPadding(padding);
        }
    }

    /// What the room allows is known once it is laid out: whoever hears of that may ask for another layout.
    static constexpr int kMostLayouts = 3;
    bool m_outdated = false;
};

} // namespace qs
