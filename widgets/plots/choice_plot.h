// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_widget.h"

class QCPItemStraightLine;

namespace qs {

/// A plot of numbered things of which one can be chosen, with the mouse or the arrow keys.
class ChoicePlot : public PlotWidget {
    Q_OBJECT
public:
    std::optional<size_t> chosen() const { return m_chosen; }
    void setChosen(std::optional<size_t> item); ///< marks it; emits nothing

signals:
    void itemChosen(size_t item);

protected:
    /// What the arrow keys do: choose the next thing at once, or mark it for Enter.
    enum class Arrows { Choose, Mark };
    ChoicePlot(Arrows arrows, QWidget* parent);

    virtual size_t itemCount() const = 0;
    virtual std::optional<size_t> itemAt(double x, double y) const = 0; ///< at plot coordinates
    virtual double xOf(size_t item) const = 0; ///< where the crosshair stands
    virtual QString itemText(size_t item) const = 0; ///< beside the pointer
    virtual void markChosen() = 0; ///< draws the mark anew
    /// For things that stand at 0, 1, 2 … along x: the one at x, and a dotted line as the mark.
    std::optional<size_t> numberAt(double x) const;
    void markByLine();
    /// To be called when there are other things; drops a choice that does not exist any more.
    void itemsChanged();
    void forgetChoice() { m_chosen.reset(); } ///< without drawing

    std::optional<std::pair<double, QString>> readout(double x, double y) const final;
    void clicked(double x, double y) final;
    void keyPressEvent(QKeyEvent* event) final;

private:
    void choose(size_t item);

    Arrows m_arrows;
    std::optional<size_t> m_chosen;
    QCPItemStraightLine* m_marker; ///< owned by the plot
};

} // namespace qs
