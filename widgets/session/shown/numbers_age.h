// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace qs {

/// Whether the numbers that are shown are those of the recipe as it is now. Views dim them where they are not.
class NumbersAge : public QObject {
    Q_OBJECT
public:
    enum class State {
        Now, ///< they are, or none are shown
        Waiting, ///< the recipe was changed and is not run
        Running, ///< it is being run, and has no numbers yet
    };
    explicit NumbersAge(QObject* parent = nullptr);

    /// While a run lasts, from the moment on where it is felt to last.
    bool stale() const { return m_stale; }
    /// Of which run they are: "Default recipe".
    const QString& run() const { return m_run; }
    void tell(State state, const QString& run); ///< by the session

signals:
    void changed(); ///< stale() or, while that is so, run()

private:
    void set(bool stale);

    bool m_stale = false;
    QString m_run;
    QTimer m_patience;
};

} // namespace qs
