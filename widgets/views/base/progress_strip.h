// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace qs {

/// In the status bar: what is being done, how far, and a way to stop it. Empty while nothing runs.
class ProgressStrip : public QWidget {
    Q_OBJECT
public:
    explicit ProgressStrip(Session& session, QWidget* parent = nullptr);

private:
    void showJob(quint64 id);

    Session& m_session;
    QLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    quint64 m_job = 0;
};

} // namespace qs
