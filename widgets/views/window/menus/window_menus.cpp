// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/menus/window_menus.h"

#include "widgets/models/base/translated.h"

#include <QMenuBar>

namespace qs {

void buildMenus(const WindowParts& parts)
{
    QMenu* exports = makeExportMenu(parts);
    buildFileMenu(parts, exports);
    buildEditMenu(parts);
    buildRecipeMenu(parts, exports);
    buildGoMenu(parts);
    buildViewMenu(parts);
    parts.fillLayouts(*parts.window.menuBar()->addMenu(tr("&Layout")));
    buildLessonsMenu(parts);
    buildHelpMenu(parts);
}

} // namespace qs
