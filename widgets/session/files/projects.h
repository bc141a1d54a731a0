// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <functional>
#include <map>
#include <vector>

namespace qs {

/// The whole work as it is now, to be saved.
Project projectOf(Session& session, const QString& layout = {});
/// projectSaved() or failed(), and then `done`.
void saveProject(
    Session& session, const QString& path, const QString& layout, const std::function<void(bool saved)>& done = {});
/// layoutFound() and projectOpened() when it is open, failed() when it cannot be. Work that was kept and never saved
/// is known by what the file says, and is recovered().
/// modelMissing() before that where a model is not where the project says. `located`: where files are now, by where
/// they were; what lay beside one of them, or below its folder, is looked for there, too.
void openProject(Session& session, const QString& path, const std::vector<Issue>& refused = {},
    const std::map<QString, QString>& located = {});
void recoverProject(Session& session, const QString& path); ///< one that was kept, whatever it says

} // namespace qs
