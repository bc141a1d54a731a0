// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QString>

namespace qs {

/// What completes the window's command line in bash, zsh or fish: its options as the help names them, the words that
/// some of them take, models, projects and data. Issue: another shell.
Result<QString> completionScript(const QString& shell);

} // namespace qs
