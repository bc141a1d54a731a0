// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QLabel>

namespace qs {

/// Plain text over a plot, in colours of its own: a palette of its own would be lost when the window is styled again.
class PlotLabel : public QLabel {
    Q_OBJECT
public:
    struct Colours {
        QColor fill, text, border; ///< nothing is painted with one that is invalid
    };
    explicit PlotLabel(QWidget* parent);
    void setColours(const Colours& colours);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Colours m_colours;
};

} // namespace qs
