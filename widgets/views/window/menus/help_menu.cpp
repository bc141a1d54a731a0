// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/help/about.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/help/tour.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QMenuBar>

#include <utility>

namespace qs {

void buildHelpMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Help"));
    QMainWindow* window = &parts.window;
    addEntry(menu, QStringLiteral("help.onThis"), tr("&Help on this"), { QKeySequence(QKeySequence::HelpContents) },
        window, [window] { showHelp(window, helpOfFocus()); });
    LessonRoom* room = &parts.lessons;
    addEntry(menu, QStringLiteral("help.learn"), tr("&Learn this"), { QKeySequence(QStringLiteral("Shift+F1")) }, room,
        [room, session = &parts.session] { room->learn(topicsInFocus(session->metric())); });
    Tour* tour = &parts.tour;
    Session* session = &parts.session;
    QAction* start
        = addEntry(menu, QStringLiteral("help.tour"), tr("&Tour"), {}, tour, [tour, session, example = parts.example] {
              if (!session->snapshot()->floatModel)
                  session->openInputs(example);
              tour->start();
          });
    start->setToolTip(tr("Shows what the panels are for"));
    menu->addSeparator();
    const std::pair<QString, const char*> pages[] { { tr("&First steps"), "start" }, { tr("F&iles"), "files" },
        { tr("&Data"), "data" }, { tr("&Views"), "views" }, { tr("What the &numbers mean"), "numbers" },
        { tr("&Words"), "words" } };
    for (const auto& [title, page] : pages)
        addEntry(menu, QStringLiteral("help.") + QLatin1String(page), title, {}, window,
            [window, name = QString::fromLatin1(page)] {
                showHelp(window, { name, {} });
            });
    addEntry(menu, QStringLiteral("help.shortcuts"), tr("&List of shortcuts"),
        { QKeySequence(QStringLiteral("Ctrl+?")) }, window, [window] {
            showHelp(window, { QStringLiteral("shortcuts"), {} });
        });
    menu->addSeparator();
    addEntry(menu, QStringLiteral("help.about"), tr("&About Quantscope"), {}, window, [window] { showAbout(window); });
}

} // namespace qs
