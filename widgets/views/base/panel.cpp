// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/panel.h"

#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/text/font_units.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kHeaderHeight = 27; ///< font units
constexpr QLatin1Char kNumberMark(':'); ///< in the name of a panel that is not the first of its kind

} // namespace

PanelHeader::PanelHeader(const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_title(new QLabel(title, this))
    , m_info(new ElidedLabel(Qt::ElideMiddle, this))
    , m_rest(new ElidedLabel(Qt::ElideRight, this))
    , m_tools(new QHBoxLayout)
    , m_endTools(new QHBoxLayout)
{
    setObjectName(QStringLiteral("panelHeader"));
    m_title->setObjectName(QStringLiteral("panelTitle"));
    for (QLabel* label : { m_info, m_rest })
        label->setObjectName(QStringLiteral("panelInfo"));
    m_rest->hide();
    m_rest->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred); // whole before the name in front of it
    m_rest->setMinimumWidth(1);
    m_info->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 0, 8, 0);
    row->setSpacing(8);
    row->addWidget(m_title);
    row->addLayout(m_tools);
    auto* info = new QHBoxLayout;
    info->setSpacing(0);
    info->addWidget(m_info, 1);
    info->addWidget(m_rest);
    row->addLayout(info, 1);
    row->addLayout(m_endTools);
    m_tools->setSpacing(6);
    m_endTools->setSpacing(6);
    setFixedHeight(fontUnits(fontMetrics(), kHeaderHeight));
}

// A dock asks for the hints, which do not know the fixed height.
QSize PanelHeader::sizeHint() const { return { QFrame::sizeHint().width(), maximumHeight() }; }

QSize PanelHeader::minimumSizeHint() const
{
    const int least = QFrame::minimumSizeHint().width();
    return { m_leastWidth > 0 ? std::min(m_leastWidth, least) : least, maximumHeight() };
}

void PanelHeader::setLeastWidth(int pixels)
{
    if (pixels == m_leastWidth)
        return;
    m_leastWidth = pixels;
    updateGeometry();
}

QString PanelHeader::title() const { return m_title->text(); }

void PanelHeader::setTitle(const QString& title) { m_title->setText(title); }

void PanelHeader::setInfo(const QString& name, const QString& rest)
{
    m_info->setText(rest.isEmpty() ? name : name + QStringLiteral(" · "));
    m_rest->setText(rest);
    m_rest->setVisible(!rest.isEmpty());
    for (QLabel* label : { m_info, m_rest })
        label->setToolTip(m_info->text() + rest);
}

void PanelHeader::addTool(QWidget* tool) { m_tools->addWidget(tool); }

void PanelHeader::addEndTool(QWidget* tool) { m_endTools->addWidget(tool); }

void PanelHeader::setTitleVisible(bool visible) { m_title->setVisible(visible); }

Panel::Panel(const QString& name, const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_header(new PanelHeader(title, this))
    , m_layout(new QVBoxLayout(this))
{
    setObjectName(name);
    setProperty("panel", true);
    setAccessibleName(title);
    m_layout->setContentsMargins(1, 0, 1, 1);
    m_layout->setSpacing(0);
}

void Panel::setNumber(int number)
{
    setObjectName(number < 2 ? kind() : kind() + kNumberMark + QString::number(number));
}

QString Panel::kind() const { return objectName().section(kNumberMark, 0, 0); }

void Panel::setContent(QWidget* content) { m_layout->addWidget(content, 1); }

void Panel::addFooter(QWidget* footer) { m_layout->addWidget(footer); }

void Panel::showEvent(QShowEvent* event)
{
    QFrame::showEvent(event);
    refreshLookedAt();
}

void Panel::hideEvent(QHideEvent* event)
{
    QFrame::hideEvent(event);
    refreshLookedAt();
}

void Panel::changeEvent(QEvent* event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::EnabledChange) // docks behind a tab are disabled
        refreshLookedAt();
}

void Panel::refreshLookedAt()
{
    const bool now = isVisible() && isEnabled();
    if (now == m_lookedAt)
        return;
    m_lookedAt = now;
    emit lookedAtChanged(now);
}

void Panel::showHeaderInside() { m_layout->insertWidget(0, m_header); }

} // namespace qs

#include "moc_panel.cpp"
