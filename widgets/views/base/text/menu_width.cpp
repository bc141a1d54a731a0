// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/menu_width.h"

#include "widgets/views/base/text/font_units.h"

#include <QMenu>

namespace qs {

namespace {

constexpr int kMostText = 320; ///< font units

} // namespace

void keepNarrow(QMenu& menu)
{
    const QFontMetrics metrics = menu.fontMetrics();
    for (QAction* action : menu.actions()) {
        if (action->menu())
            keepNarrow(*action->menu());
        const QString text = action->text(), words = text.section(QLatin1Char('\t'), 0, 0);
        const QString cut = metrics.elidedText(words, Qt::ElideMiddle, fontUnits(metrics, kMostText));
        if (cut == words || action->parent() != &menu)
            continue; // others show the same action elsewhere
        action->setToolTip(words);
        menu.setToolTipsVisible(true);
        action->setText(cut + text.mid(words.size()));
    }
}

} // namespace qs
