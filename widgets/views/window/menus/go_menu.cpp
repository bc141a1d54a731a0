// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QMenuBar>

#include <algorithm>

namespace qs {

namespace {

/// To the next sample of the data, or back.
void stepSample(Session& session, int step)
{
    const auto& data = session.snapshot()->data;
    if (!data || data->samples() == 0)
        return;
    const auto last = int64_t(data->samples()) - 1;
    const auto now = session.selection().current().sample;
    const int64_t to = now ? int64_t(*now) + step : step > 0 ? 0 : last;
    session.selection().selectSample(size_t(std::clamp<int64_t>(to, 0, last)));
}

void addSampleSteps(QMenu* menu, Session* session)
{
    QAction* next = addEntry(menu, QStringLiteral("go.nextSample"), tr("Ne&xt sample"),
        { QKeySequence(QStringLiteral("Ctrl+]")) }, session, [session] { stepSample(*session, 1); });
    QAction* before = addEntry(menu, QStringLiteral("go.previousSample"), tr("&Previous sample"),
        { QKeySequence(QStringLiteral("Ctrl+[")) }, session, [session] { stepSample(*session, -1); });
    QAction* all = addEntry(menu, QStringLiteral("go.allSamples"), tr("&All samples"),
        { QKeySequence(QStringLiteral("Ctrl+\\")) }, session,
        [session] { session->selection().selectSample(std::nullopt); });
    const auto refresh = [next, before, all, session] {
        for (QAction* action : { next, before, all })
            enable(*action, session->snapshot()->data != nullptr, tr("No data are open"));
    };
    QObject::connect(session, &Session::snapshotChanged, menu, refresh);
    refresh();
}

void addWorstSteps(QMenu* menu, Session* session, TablePanel* tensors)
{
    QAction* worse = addEntry(menu, QStringLiteral("go.worseTensor"), tr("Previous &tensor in the table"),
        { QKeySequence(Qt::Key_BracketLeft) }, tensors, [tensors] { tensors->walk(-1); });
    QAction* next = addEntry(menu, QStringLiteral("go.nextTensor"), tr("Next t&ensor in the table"),
        { QKeySequence(Qt::Key_BracketRight) }, tensors, [tensors] { tensors->walk(1); });
    const auto refresh = [worse, next, session] {
        for (QAction* action : { worse, next })
            enable(*action, session->snapshot()->comparison.has_value(), tr("Nothing was compared yet"));
    };
    QObject::connect(session, &Session::snapshotChanged, menu, refresh);
    refresh();
}

} // namespace

void buildGoMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Go"));
    Selection* selection = &parts.session.selection();
    QAction* back = addEntry(menu, QStringLiteral("go.back"), tr("&Back"), { QKeySequence(QStringLiteral("Alt+Left")) },
        selection, &Selection::goBack);
    QAction* forward = addEntry(menu, QStringLiteral("go.forward"), tr("&Forward"),
        { QKeySequence(QStringLiteral("Alt+Right")) }, selection, &Selection::goForward);
    const auto refresh = [back, forward, selection] {
        enable(*back, selection->canGoBack(), tr("Nothing was selected before"));
        enable(*forward, selection->canGoForward(), tr("This is the newest selection"));
    };
    QObject::connect(selection, &Selection::historyChanged, menu, refresh);
    refresh();
    menu->addSeparator();
    addWorstSteps(menu, &parts.session, &parts.tensors);
    menu->addSeparator();
    addSampleSteps(menu, &parts.session);
    menu->addSeparator();
    const auto step = parts.nextPanel;
    addEntry(menu, QStringLiteral("go.nextPanel"), tr("Next pane&l"), { QKeySequence(Qt::Key_F6) }, &parts.window,
        [step] { step(true); });
    addEntry(menu, QStringLiteral("go.previousPanel"), tr("Previo&us panel"),
        { QKeySequence(QStringLiteral("Shift+F6")) }, &parts.window, [step] { step(false); });
    menu->addSeparator();
    addEntry(menu, QStringLiteral("go.nothing"), tr("N&othing selected"),
        { QKeySequence(QStringLiteral("Ctrl+Shift+A")) }, selection, &Selection::clear);
}

} // namespace qs
