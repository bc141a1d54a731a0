// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/graph_actions.h"

#include "widgets/models/base/translated.h"
#include "widgets/views/actions/named_action.h"

namespace qs {

GraphActions addGraphActions(QWidget& canvas, const GraphDeeds& deeds)
{
    const auto add = [&canvas](const char* id, const QString& text, const QList<QKeySequence>& keys, auto function) {
        auto* action = new QAction(text, &canvas);
        nameAction(*action, QString::fromLatin1(id), tr("Graph"));
        action->setShortcuts(keys);
        action->setShortcutContext(Qt::WidgetShortcut);
        QObject::connect(action, &QAction::triggered, &canvas, function);
        canvas.addAction(action);
        return action;
    };
    GraphActions made {
        add("graph.fit", tr("Fit"), { Qt::Key_Space }, deeds.fit),
        add("graph.showSelection", tr("Show the selection"), { Qt::Key_F }, deeds.showSelection),
        add("graph.around", tr("Neighbourhood of the selection, or the whole graph"), { Qt::Key_N },
            deeds.toggleAround),
        add("graph.find", tr("Find…"), { Qt::Key_Slash }, deeds.find),
        add("graph.copy", tr("Copy names and numbers"), QKeySequence::keyBindings(QKeySequence::Copy).mid(0, 1),
            deeds.copy),
        add("graph.open", tr("Open the group of the selection; zoom in where there is none"),
            { Qt::Key_Plus, Qt::Key_Equal }, [deeds] { deeds.openOrClose(true); }),
        add("graph.close", tr("Close the group of the selection; zoom out where there is none"), { Qt::Key_Minus },
            [deeds] { deeds.openOrClose(false); }),
    };
    add("graph.zoomIn", tr("Zoom in"), { Qt::CTRL | Qt::Key_Plus, Qt::CTRL | Qt::Key_Equal },
        [deeds] { deeds.zoom(true); });
    add("graph.zoomOut", tr("Zoom out"), { Qt::CTRL | Qt::Key_Minus }, [deeds] { deeds.zoom(false); });
    add("graph.first", tr("Show the beginning of the graph"), { Qt::Key_Home }, [deeds] { deeds.goToEnd(false); });
    add("graph.last", tr("Show the end of the graph"), { Qt::Key_End }, [deeds] { deeds.goToEnd(true); });
    return made;
}

} // namespace qs
