// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMap>
#include <QObject>
#include <QSize>

class QDataStream;
class QDockWidget;
class QMainWindow;

namespace qs {

/// Keeps the shares that docks have of the window while its size changes. What a small window takes from them, a large
/// one gives back: sizes that only a lack of room made are not remembered.
class DockSizes : public QObject {
public:
    explicit DockSizes(QMainWindow& window);

    void takeAnew(); ///< the docks were arranged: what they have now is wanted
    void forget(const QDockWidget& dock); ///< it went to another place
    void beforeResize(QSize from); ///< the docks have what they have in a window of that size
    /// The docks are kept from a larger window, and have less room in this one than they need at least.
    bool lackRoom() const;
    void write(QDataStream& out);
    /// As write() gave it; false for what is broken. Gives the docks their shares of the window as it is.
    bool read(QDataStream& in);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using Sizes = QMap<QString, int>; ///< pixels by the dock's name
    /// Widths or heights that are wanted in a window of that size.
    struct Wanted {
        int window = 0;
        Sizes sizes, given; ///< given: what the docks had after they got their shares
    };
    QList<QDockWidget*> fronts() const;
    int extent(const QDockWidget& dock, Qt::Orientation along) const;
    Sizes current(Qt::Orientation along) const;
    Wanted& wanted(Qt::Orientation along) { return along == Qt::Horizontal ? m_widths : m_heights; }
    void take(Qt::Orientation along, int window, bool whatever);
    void give(Qt::Orientation along);

    QMainWindow& m_window;
    Wanted m_widths, m_heights;
    Sizes m_pressedWidths, m_pressedHeights; ///< while a border is dragged
    bool m_giving = false;
};

} // namespace qs
