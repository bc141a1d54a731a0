// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QStringList>

class QLabel;

namespace qs {

class Session;

/// Asks what to do with work that a process left behind. Its file goes when the work is open again, or when nobody
/// wants it; what is not answered is asked again the next time.
class RecoveryBar : public QFrame {
    Q_OBJECT
public:
    explicit RecoveryBar(Session& session, QWidget* parent = nullptr);
    /// Project files, newest first; one is asked for at a time.
    void offer(const QStringList& paths);

signals:
    void restoring(); ///< before anything is opened

private:
    void showFirst();
    void restore();
    void discard();

    Session& m_session;
    QStringList m_paths; ///< the first is asked for
    QLabel* m_headline;
    QLabel* m_details;
};

} // namespace qs
