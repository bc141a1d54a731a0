// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/dock_title.h"

#include "widgets/session/details/shown_place.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/window/docks/sign_button.h"

#include <QAction>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QMenu>

namespace qs {

namespace {

constexpr int kLongestHeld = 24; ///< characters of a value's name in a tab: its end tells more

QString shortened(const QString& name)
{
    return name.size() <= kLongestHeld ? name : QStringLiteral("…") + name.right(kLongestHeld - 1);
}

} // namespace

DockTitle::DockTitle(QDockWidget& dock, Panel& panel)
    : QObject(&dock)
    , m_dock(dock)
    , m_panel(panel)
    , m_place(panel.shownPlace())
    , m_title(panel.header()->title())
    , m_float(new QAction(this))
    , m_close(new QAction(tr("&Close"), this))
{
    buildActions();
    auto* strip = new QWidget(panel.header());
    auto* row = new QHBoxLayout(strip);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    if (m_pin)
        row->addWidget(new SignButton(SignButton::Sign::Pin, m_pin, strip));
    m_floatButton = new SignButton(SignButton::Sign::Float, m_float, strip);
    row->addWidget(m_floatButton);
    row->addWidget(new SignButton(SignButton::Sign::Close, m_close, strip));
    panel.header()->addEndTool(strip);
    nameFloat();
    if (m_place)
        namePinned();
}

void DockTitle::buildActions()
{
    connect(m_float, &QAction::triggered, this, [this] { m_dock.setFloating(!m_dock.isFloating()); });
    connect(&m_dock, &QDockWidget::topLevelChanged, this, &DockTitle::nameFloat);
    m_close->setToolTip(tr("Close %1; View opens it again").arg(m_title));
    connect(m_close, &QAction::triggered, &m_dock, &QDockWidget::close);
    if (!m_place)
        return;
    m_pin = new QAction(tr("&Pin"), this);
    m_pin->setCheckable(true);
    connect(m_pin, &QAction::toggled, m_place, &ShownPlace::setPinned);
    connect(m_place, &ShownPlace::pinnedChanged, this, &DockTitle::namePinned);
    connect(m_place, &ShownPlace::changed, this, &DockTitle::namePinned);
}

void DockTitle::nameFloat()
{
    const bool floats = m_dock.isFloating();
    m_float->setText(floats ? tr("&Dock") : tr("&Float"));
    m_float->setToolTip(
        floats ? tr("Put %1 back into the window").arg(m_title) : tr("Make %1 a window of its own").arg(m_title));
    if (m_floatButton)
        m_floatButton->setSign(floats ? SignButton::Sign::Dock : SignButton::Sign::Float);
}

void DockTitle::namePinned()
{
    const bool pinned = m_place->pinned();
    m_pin->setEnabled(pinned || !m_place->current().empty());
    m_pin->setChecked(pinned);
    m_pin->setToolTip(pinned ? tr("Follow the selection again") : tr("Keep %1 on what it shows now").arg(m_title));
    const QString title = pinned ? tr("%1: %2 (pinned)").arg(m_title, shortened(m_place->name())) : m_title;
    m_dock.setWindowTitle(title);
    m_panel.header()->setTitle(title);
    m_panel.setAccessibleName(title);
}

void DockTitle::fill(QMenu& menu) const
{
    menu.addAction(m_float);
    if (m_pin)
        menu.addAction(m_pin);
    menu.addAction(m_close);
}

} // namespace qs

#include "moc_dock_title.cpp"
