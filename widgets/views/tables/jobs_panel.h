// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"

class QPlainTextEdit;
class QTableView;

namespace qs {

/// Work running and done, and below it the log: warnings and failures.
class JobsPanel : public Panel {
    Q_OBJECT
public:
    explicit JobsPanel(Session& session, QWidget* parent = nullptr);

private:
    void log(const QString& line);
    void logSnapshot(const Snapshot& now);
    void refreshInfo();

    Session& m_session;
    QTableView* m_table;
    QPlainTextEdit* m_log;
    std::vector<std::string> m_logged; ///< warnings of the current snapshot, said once
};

} // namespace qs
