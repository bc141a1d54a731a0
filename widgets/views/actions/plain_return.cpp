// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/plain_return.h"

#include <QKeyEvent>
#include <QPushButton>

namespace qs {

bool PlainReturn::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress || !qobject_cast<QPushButton*>(watched))
        return false;
    const auto& key = static_cast<QKeyEvent&>(*event);
    const bool presses = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
    return presses && (key.modifiers() & ~Qt::KeyboardModifiers(Qt::KeypadModifier)) != 0;
}

} // namespace qs
