// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/lesson/lesson_panel.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QActionGroup>
#include <QMenuBar>

namespace qs {

namespace {

void fillLessons(QMenu& menu, LessonRoom& room)
{
    menu.clear();
    for (const LessonEntry& lesson : room.lessons()) {
        QAction* action = menu.addAction(withoutMnemonics(lesson.title) + QStringLiteral("\t") + room.stateText(lesson),
            &room, [&room, folder = lesson.folder] { room.begin(folder); });
        action->setEnabled(lesson.problem.isEmpty());
    }
}

void addSizes(QMenu* menu, LessonRoom* room)
{
    QMenu* sizes = menu->addMenu(tr("&Text size"));
    auto* group = new QActionGroup(sizes);
    const QString names[] { tr("&Normal"), tr("&Large"), tr("&Very large") };
    for (int i = 0; i < 3; ++i) {
        QAction* action = addEntry(
            sizes, QStringLiteral("lesson.size.%1").arg(i), names[i], {}, room, [room, i] { room->setTextSize(i); });
        action->setCheckable(true);
        action->setChecked(i == room->textSize());
        group->addAction(action);
    }
}

} // namespace

void buildLessonsMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("Le&ssons"));
    LessonRoom* room = &parts.lessons;
    QMenu* take = menu->addMenu(tr("&Take"));
    markAsList(*take);
    QObject::connect(take, &QMenu::aboutToShow, room, [take, room] { fillLessons(*take, *room); });
    fillLessons(*take, *room);
    addEntry(
        menu, QStringLiteral("lesson.openFolder"), tr("&Open folder…"), {}, room, [room] { room->askForFolder(); });
    menu->addSeparator();
    auto* panel = parts.window.findChild<LessonPanel*>();
    const QList<QAction*> inside {
        addEntry(menu, QStringLiteral("lesson.next"), tr("&Next step"), { QKeySequence(QStringLiteral("Ctrl+PgDown")) },
            panel, [panel] { panel->next(); }),
        addEntry(menu, QStringLiteral("lesson.previous"), tr("&Step before"),
            { QKeySequence(QStringLiteral("Ctrl+PgUp")) }, panel, [panel] { panel->next(-1); }),
        addEntry(menu, QStringLiteral("lesson.present"), tr("&Presentation"), { QKeySequence(Qt::Key_F11) }, room,
            [room] { room->setPresenting(!room->presenting()); }),
        addEntry(menu, QStringLiteral("lesson.results"), tr("&Results as JSON…"), {}, room,
            [room] { room->askForResults(false); }),
        addEntry(menu, QStringLiteral("lesson.resultsPdf"), tr("Results as P&DF…"), {}, room,
            [room] { room->askForResults(true); }),
        addEntry(menu, QStringLiteral("lesson.print"), tr("Pr&int lesson…"), {}, room,
            [room] { room->askForHandout(false); }),
        addEntry(menu, QStringLiteral("lesson.printAnswers"), tr("Print lesson with &answers…"), {}, room,
            [room] { room->askForHandout(true); }),
        addEntry(menu, QStringLiteral("lesson.leave"), tr("&Leave the lesson"), {}, room, [room] { room->leave(); }),
    };
    const auto refresh = [inside](bool active) {
        for (QAction* action : inside)
            enable(*action, active, tr("No lesson is taken"));
    };
    refresh(false);
    QObject::connect(room, &LessonRoom::activeChanged, menu, refresh);
    menu->addSeparator();
    addSizes(menu, room);
}

} // namespace qs
