// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>
#include <QRect>

class QDockWidget;
class QTimer;

namespace qs {

/// Gives a floating dock the frame of a window: title, borders to resize it by, close, maximize. Qt gives docks that
/// have a title strip of their own none. It stays above the main window, and on a screen.
class FloatingFrame : public QObject {
    Q_OBJECT
public:
    explicit FloatingFrame(QDockWidget& dock);

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void settle();

    QDockWidget& m_dock;
    QTimer* m_settle; ///< runs out when what makes it float is done with
};

/// The window as near to where it is as its title can be reached, and no larger than the screen it is on. `screens`
/// without what belongs to the desktop; the first is the main one.
QRect onAScreen(const QRect& window, const QList<QRect>& screens);

} // namespace qs
