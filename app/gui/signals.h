// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

class QObject;

namespace qs {

/// Calls the function on the GUI thread at SIGINT, SIGTERM or SIGHUP; a second signal ends the process.
void onTerminationSignal(QObject* context, std::function<void()> function);

} // namespace qs
