// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/file_roles.h"

#include <QLabel>

namespace qs {

class Session;

/// Lies over a window while files are dragged over it and says what will happen with each.
class DropHint : public QLabel {
    Q_OBJECT
public:
    DropHint(Session& session, QWidget& window);
    /// Looks into the files by a job; until it is done, endings and what is open decide.
    void showFor(const QStringList& files);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void say(const QStringList& files, const std::vector<std::optional<Result<FileRole>>>& roles);

    Session& m_session;
    QStringList m_files;
};

/// "cat.npz: the samples that the models are compared on". Nothing known of the file: what may become of it.
/// An issue: why it is not opened.
QString dropText(const Session& session, const QString& path, std::optional<Result<FileRole>> role);

} // namespace qs
