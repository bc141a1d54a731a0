// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

class QAction;

namespace qs {

/// What keys do while a graph has the focus; arrow keys, which walk along the edges, are the canvas's own.
struct GraphDeeds {
    std::function<void()> fit, showSelection, toggleAround, find, copy;
    std::function<void(bool open)> openOrClose; ///< the group of the selection
    std::function<void(bool closer)> zoom;
    std::function<void(bool last)> goToEnd;
};

struct GraphActions {
    QAction *fit, *showSelection, *around, *find, *copy, *open, *close;
};

/// Actions of the canvas, with the keys that they have at first. Both graphs of a window share their names.
GraphActions addGraphActions(QWidget& canvas, const GraphDeeds& deeds);

} // namespace qs
