// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/agent/agent_chip.h"

#include "widgets/session/agent/agent_serving.h"
#include "widgets/views/base/text/font_units.h"

#include <QLocale>
#include <QStyle>

namespace qs {

namespace {

constexpr int kWidestChip = 280; ///< font units: the status bar holds much else

QString nameOf(const AgentServing::Guest& guest)
{
    return guest.name.isEmpty() ? AgentChip::tr("an agent") : guest.name;
}

} // namespace

AgentChip::AgentChip(AgentServing& serving, QMenu& menu, QWidget* parent)
    : QToolButton(parent)
    , m_serving(serving)
{
    setObjectName(QStringLiteral("agentChip"));
    setAutoRaise(true);
    setPopupMode(QToolButton::InstantPopup);
    setMenu(&menu);
    setFocusPolicy(Qt::TabFocus);
    connect(&serving, &AgentServing::changed, this, &AgentChip::refresh);
    refresh();
}

void AgentChip::refresh()
{
    const auto& guest = m_serving.guest();
    setVisible(guest || m_serving.serving());
    QString text = guest ? tr("Agent: %1").arg(nameOf(*guest)) : tr("Agents may attach");
    if (guest && !m_serving.doing().isEmpty())
        text += QStringLiteral(" · ") + m_serving.doing();
    if (const int edits = m_serving.edits().open(); edits > 0)
        text += QStringLiteral(" · ") + tr("%n edit(s)", nullptr, edits);
    if (!m_serving.edits().allowed())
        text += QStringLiteral(" · ") + tr("looks only");
    setText(fontMetrics().elidedText(text, Qt::ElideRight, fontUnits(fontMetrics(), kWidestChip)));
    if (property("outlined").toBool() != guest.has_value()) {
        setProperty("outlined", guest.has_value());
        style()->unpolish(this);
        style()->polish(this);
    }
    setAccessibleName(text);
    setToolTip(told());
}

QString AgentChip::told() const
{
    const auto& guest = m_serving.guest();
    if (!guest)
        return tr("An agent's program on this computer may attach to this window. None is attached.");
    QStringList lines { tr("%1 is attached since %2. It sees what this window shows.")
                            .arg(nameOf(*guest), QLocale().toString(guest->since.time(), QLocale::ShortFormat)) };
    lines << (m_serving.edits().allowed()
            ? tr("It may edit the recipe, as steps that Undo takes back, and open other models where nothing unsaved "
                 "is lost.")
            : tr("It may not edit."));
    lines << tr("It may name files in %1.").arg(guest->folders.join(QStringLiteral(", ")));
    if (const int edits = m_serving.edits().open(); edits > 0)
        lines << tr("%n edit(s) of it can be accepted or refused.", nullptr, edits);
    return lines.join(u'\n');
}

} // namespace qs

#include "moc_agent_chip.cpp"
