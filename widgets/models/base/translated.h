// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>

namespace qs {

/// A text of the window in the user's language, for functions that belong to no QObject. `n` decides the plural.
inline QString tr(const char* text, int n = -1) { return QCoreApplication::translate("Quantscope", text, nullptr, n); }

} // namespace qs
