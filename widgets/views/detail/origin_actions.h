// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/origin/exporter_origin.h"
#include "widgets/session/files/source_files.h"
#include "widgets/session/session.h"

#include <functional>

class QAction;

namespace qs {

/// What can be done with the line of the program that the selected node came from: copied, copied with the calls that
/// led there, opened. They are actions of `menu`, which shows its actions as context menu, and are hidden where no line
/// is known.
class OriginActions : public QObject {
    Q_OBJECT
public:
    OriginActions(Session& session, QWidget* menu);
    using OpenFn = std::function<void(const QString& file)>;
    void setOpener(OpenFn open) { m_opener = std::move(open); } ///< in place of the desktop's program for text

private:
    QAction* add(const QString& text, void (OriginActions::*slot)());
    void refresh();
    void copyLine();
    void copyTrace();
    void open();
    void sayMissing(const QString& path);
    void locate(const QString& path);
    QWidget* menu() const;

    Session& m_session;
    ExporterOrigin m_origin;
    SourceFiles m_files;
    OpenFn m_opener;
    std::vector<QAction*> m_actions;
};

} // namespace qs
