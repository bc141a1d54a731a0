// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QObject>
#include <QSize>
#include <QString>

#include <functional>

class QWidget;

namespace qs {

/// Saves a picture of a window once nothing is left to do: the comparison is done, the graph laid out, all painted in
/// one theme. On a scaled screen the picture has the screen's pixels.
class Screenshot : public QObject {
    Q_OBJECT
public:
    /// Shows the window at exactly this size, without asking a window manager.
    Screenshot(Session& session, QWidget& window, QSize size, QObject* parent = nullptr);
    /// Calls `done` with what went wrong, or with success; `prepare` runs before the picture (select, show a view).
    void take(const QString& path, std::function<Status()> prepare, std::function<void(Status)> done);

private:
    void whenQuiet(std::function<void()> next);
    Status save(const QString& path);

    Session& m_session;
    QWidget& m_window;
    QSize m_size;
};

} // namespace qs
