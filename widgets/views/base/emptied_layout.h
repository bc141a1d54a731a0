// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QWidget>

namespace qs {

/// Takes all that is in a layout out of sight. Widgets go when the event loop comes round: what asks for this may
/// happen while Qt shows or lays out just these, and Qt goes on with them afterwards.
inline void emptyLayout(QLayout& layout)
{
    while (const QLayoutItem* item = layout.takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->setObjectName({}); // nobody finds it any more
            widget->deleteLater();
        }
        delete item;
    }
}

} // namespace qs
