// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <functional>

class QSocketNotifier;

namespace qs {

/// Emits asked() on the GUI thread at SIGINT, SIGTERM or SIGHUP. Another one before rearm() ends the process: the first
/// was not heard. One at a time.
class TerminationSignals : public QObject {
    Q_OBJECT
public:
    explicit TerminationSignals(QObject* parent = nullptr);
    ~TerminationSignals() override;
    void rearm(); ///< the user has seen to it, and goes on working

signals:
    void asked();

private:
    void heard();

    QSocketNotifier* m_notifier = nullptr;
};

} // namespace qs
