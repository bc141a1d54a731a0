// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

namespace qs {

/// The whole work as it is now, to be saved.
Project projectOf(Session& session, const QString& layout = {});
void saveProject(Session& session, const QString& path, const QString& layout); ///< projectSaved() or failed()
void openProject(Session& session, const QString& path); ///< layoutFound() when it is open

} // namespace qs
