// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/agent/agent_menu.h"

#include "widgets/models/base/translated.h"
#include "widgets/session/agent/agent_serving.h"
#include "widgets/views/actions/named_action.h"

namespace qs {

namespace {

void setServing(AgentServing& serving, Session& session, bool on)
{
    if (!on)
        return serving.stop();
    if (const Status status = serving.start(); !status.ok())
        emit session.failed(status.issue());
}

void refuseEdits(AgentServing& serving, Session& session)
{
    const Result<int> left = serving.edits().refuse();
    if (!left.ok())
        emit session.failed(left.issue());
    else if (*left > 0)
        emit session.failed(
            badUse(tr("%n edit(s) of the agent lie before an edit of yours and stay", *left).toStdString(),
                tr("undo yours first, or choose the step in Edit, History").toStdString()));
}

} // namespace

void fillAgentMenu(QMenu& menu, AgentServing& serving, Session& session)
{
    AgentServing* const s = &serving;
    QAction* attach = addEntry(&menu, QStringLiteral("agents.attach"), tr("&Let agents attach"), {}, s,
        [s, &session](bool on) { setServing(*s, session, on); });
    attach->setCheckable(true);
    setTip(*attach, tr("An agent's program on this computer may see what this window shows and edit the recipe in it"));
    QAction* edit = addEntry(&menu, QStringLiteral("agents.edit"), tr("Let the agent &edit"), {}, s,
        [s](bool on) { s->edits().setAllowed(on); });
    edit->setCheckable(true);
    setTip(*edit, tr("Without it the agent only looks"));
    menu.addSeparator();
    QAction* accept = addEntry(
        &menu, QStringLiteral("agents.accept"), tr("&Accept the agent's edits"), {}, s, [s] { s->edits().accept(); });
    setTip(*accept, tr("They stay when later ones are refused"));
    QAction* refuse = addEntry(&menu, QStringLiteral("agents.refuse"), tr("&Refuse the agent's edits"), {}, s,
        [s, &session] { refuseEdits(*s, session); });
    setTip(*refuse, tr("Takes back what it did since it was attached or you last accepted, and lets it edit no more"));
    menu.addSeparator();
    QAction* letGo
        = addEntry(&menu, QStringLiteral("agents.letGo"), tr("Let the agent &go"), {}, s, [s] { s->letGo(); });
    const auto refresh = [=] {
        attach->setChecked(s->serving());
        edit->setChecked(s->edits().allowed());
        const bool edits = s->edits().open() > 0;
        enable(*accept, edits, tr("The agent has edited nothing"));
        enable(*refuse, edits || (s->guest() && s->edits().allowed()), tr("The agent has edited nothing"));
        enable(*letGo, s->guest().has_value(), tr("No agent is attached"));
    };
    QObject::connect(s, &AgentServing::changed, &menu, refresh);
    refresh();
}

} // namespace qs
