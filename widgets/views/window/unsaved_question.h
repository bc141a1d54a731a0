// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

#include <functional>

class QMessageBox;
class QWidget;

namespace qs {

class Session;

/// Asks what to do with work that is not saved before it gives way to something.
class UnsavedQuestion : public QObject {
    Q_OBJECT
public:
    /// Saves the work where it was saved before, or asks where, and then says whether it did.
    using Save = std::function<void(std::function<void(bool saved)> done)>;
    UnsavedQuestion(Session& session, QWidget& window, Save save);

    /// Calls `proceed` at once where all is saved, else when the user has saved the work or gives it up. Does not
    /// block; a newer question takes the place of one that is not answered.
    void ask(std::function<void()> proceed);
    bool open() const { return !m_box.isNull(); } ///< a question is not answered yet
    /// For the end of the login, which does not wait: the same, blocking. False: the user wants to go on working.
    bool askAtOnce();

signals:
    void askingAtOnce(); ///< before it is looked whether there is anything to ask
    void stayed(); ///< the user goes on working with what is not saved

private:
    QMessageBox* makeBox() const;

    Session& m_session;
    QWidget& m_window;
    Save m_save;
    QPointer<QMessageBox> m_box;
};

} // namespace qs
