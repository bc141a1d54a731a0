// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMenu;

namespace qs {

/// Cuts texts with long names in the middle, in menus within it too; their tool tips have all. Before it is shown.
void keepNarrow(QMenu& menu);

} // namespace qs
