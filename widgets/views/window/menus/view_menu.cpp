// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/folded_graph.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QActionGroup>
#include <QMenuBar>

#include <array>
#include <utility>

namespace qs {

namespace {

void addGraphEntries(QMenu* menu, Session* session, GraphPanel* graph)
{
    const std::array<QAction*, 5> entries {
        addEntry(menu, QStringLiteral("view.fit"), tr("&Fit the graph"), { QKeySequence(QStringLiteral("Ctrl+0")) },
            graph, [graph] { graph->canvas().fit(); }),
        addEntry(menu, QStringLiteral("view.showSelection"), tr("Show the &selection"),
            { QKeySequence(QStringLiteral("Ctrl+J")) }, graph, [graph] { graph->canvas().focusSelection(); }),
        addEntry(menu, QStringLiteral("view.fold"), tr("Fold or show &Q/DQ nodes"),
            { QKeySequence(QStringLiteral("Ctrl+R")) }, graph,
            [graph] { graph->setMode(graph->mode() == FoldMode::Folded ? FoldMode::Raw : FoldMode::Folded); }),
        addEntry(menu, QStringLiteral("view.openGroups"), tr("Open all &groups of the graph"), {}, graph,
            [graph] { graph->setAllClosed(false); }),
        addEntry(menu, QStringLiteral("view.closeGroups"), tr("C&lose all groups of the graph"), {}, graph,
            [graph] { graph->setAllClosed(true); }),
    };
    const auto refresh = [entries, session] {
        const bool open = session->snapshot()->floatModel || session->snapshot()->quantModel;
        for (QAction* action : entries)
            enable(*action, open, tr("No model is open"));
    };
    QObject::connect(session, &Session::snapshotChanged, menu, refresh);
    refresh();
}

void addColours(QMenu* menu, Session* session)
{
    QMenu* colours = menu->addMenu(tr("&Colour and sort by"));
    auto* metrics = new QActionGroup(colours);
    for (const Metric metric : kMetrics) {
        QAction* action = addEntry(colours, QStringLiteral("metric.%1").arg(int(metric)), metricInfo(metric).title, {},
            session, [session, metric] { session->setMetric(metric); });
        metrics->addAction(action);
        action->setCheckable(true);
        action->setChecked(metric == session->metric());
        action->setToolTip(metricInfo(metric).definition);
        const auto refresh = [action, session, metric] {
            enable(*action, metric != Metric::OtherGain || session->snapshot()->other,
                tr("There is no second quantized model"));
        };
        refresh();
        QObject::connect(session, &Session::snapshotChanged, action, refresh);
        QObject::connect(session, &Session::metricChanged, action,
            [action, metric](Metric now) { action->setChecked(now == metric); });
    }
}

void addThemes(QMenu* menu, const WindowParts& parts)
{
    QMenu* themes = menu->addMenu(tr("&Theme"));
    auto* choices = new QActionGroup(themes);
    const std::array<std::pair<ThemeChoice, QString>, 3> names { { { ThemeChoice::System, tr("As the &system") },
        { ThemeChoice::Light, tr("&Light") }, { ThemeChoice::Dark, tr("&Dark") } } };
    for (const auto& [choice, name] : names) {
        QAction* action = addEntry(themes, QStringLiteral("theme.") + themeChoiceName(choice), name, {}, themes,
            [set = parts.setTheme, chosen = choice] { set(chosen); });
        choices->addAction(action);
        action->setCheckable(true);
        action->setChecked(parts.theme() == choice);
        QObject::connect(themes, &QMenu::aboutToShow, action,
            [action, now = parts.theme, chosen = choice] { action->setChecked(now() == chosen); });
    }
}

} // namespace

void buildViewMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&View"));
    addGraphEntries(menu, &parts.session, &parts.graph);
    menu->addSeparator();
    addColours(menu, &parts.session);
    addThemes(menu, parts);
    menu->addSeparator();
    QMenu* panels = menu->addMenu(tr("&Panels"));
    panels->addActions(parts.panels);
}

} // namespace qs
