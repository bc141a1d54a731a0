// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/logout.h"

#include "widgets/session/files/autosave.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/unsaved_question.h"

#include <QGuiApplication>
#include <QSessionManager>

namespace qs {

void keepWorkAtLogout(QGuiApplication& application, MainWindow& window, Autosave& autosave)
{
    const auto asked = [&](QSessionManager& manager) {
        autosave.flush();
        if (!manager.allowsInteraction())
            return;
        if (!window.unsaved().askAtOnce())
            manager.cancel();
        manager.release();
    };
    const auto saved = [&](QSessionManager& manager) {
        autosave.flush();
        manager.setRestartHint(QSessionManager::RestartNever); // what is left is offered at the next start
    };
    QObject::connect(&application, &QGuiApplication::commitDataRequest, &window, asked, Qt::DirectConnection);
    QObject::connect(&application, &QGuiApplication::saveStateRequest, &window, saved, Qt::DirectConnection);
}

} // namespace qs
