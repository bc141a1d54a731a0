// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/header/other_chip.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/shown/compared_names.h"
#include "widgets/views/base/text/font_units.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace qs {

namespace {

QToolButton* button(QWidget* parent, const QString& text, const QString& tip)
{
    auto* made = new QToolButton(parent);
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setAutoRaise(true);
    return made;
}

} // namespace

OtherChip::OtherChip(Session& session, QWidget* parent)
    : QFrame(parent)
    , m_session(session)
    , m_name(button(this, {}, tr("What B does otherwise than A")))
    , m_swap(button(this, QStringLiteral("⇄"), tr("Swap A and B")))
    , m_off(button(this, QStringLiteral("×"), tr("Compare with B no longer")))
{
    setObjectName(QStringLiteral("otherChip"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    for (QToolButton* part : { m_name, m_swap, m_off })
        row->addWidget(part);
    connect(m_name, &QToolButton::clicked, this, &OtherChip::asked);
    connect(m_swap, &QToolButton::clicked, this, [this] { swapWithOther(m_session); });
    connect(m_off, &QToolButton::clicked, this, [this] { openOther(m_session, {}); });
    connect(&session, &Session::snapshotChanged, this, &OtherChip::refresh);
    connect(&session.runs(), &RunList::changed, this, &OtherChip::refresh);
    refresh();
}

void OtherChip::setNameWidth(int pixels)
{
    m_nameWidth = pixels;
    m_name->setText(fontMetrics().elidedText(m_text, Qt::ElideMiddle, pixels));
}

void OtherChip::refresh()
{
    const Snapshot& now = *m_session.snapshot();
    setVisible(now.inputs.other.given());
    const QString text = tr("B: %1").arg(comparedNames(now, m_session.runs().tree()).b);
    m_text = text;
    setNameWidth(m_nameWidth > 0 ? m_nameWidth : fontUnits(fontMetrics(), kNameWidth));
    m_name->setToolTip(tr("%1 is compared beside the first model. Click to see what it does otherwise.").arg(text));
    m_name->setAccessibleName(text);
    m_swap->setEnabled(now.other != nullptr);
}

} // namespace qs

#include "moc_other_chip.cpp"
