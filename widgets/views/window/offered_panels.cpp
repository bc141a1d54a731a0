// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/offered_panels.h"

#include "widgets/plots/plot_widget.h"

#include <QAction>
#include <QTableView>

#include <utility>

namespace qs {

void offerInMenus(QWidget& window, const QString& text, std::function<void()> show)
{
    auto* action = new QAction(text, &window);
    QObject::connect(action, &QAction::triggered, &window, std::move(show));
    const auto panel = [&](const char* name) { return window.findChild<QWidget*>(QLatin1String(name)); };
    for (const char* name : { "graph", "graph-2", "tensors", "weights", "outputs", "samples" })
        if (QWidget* menu = panel(name))
            menu->addAction(action);
    if (QWidget* inspector = panel("inspector"))
        inspector->findChild<QTableView*>()->addAction(action);
    for (const char* name : { "distribution", "channels", "error-map", "layer-chart" })
        if (QWidget* plots = panel(name))
            for (PlotWidget* plot : plots->findChildren<PlotWidget*>())
                plot->addAction(action);
}

} // namespace qs
