// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// A sentence of the core in the words of the window: what it says of options of the command line is said of the
/// menus and fields that do the same. The one place where that is done; any other text comes back as it is.
QString inWindowWords(QString text);

} // namespace qs
