// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/graph_search_bar.h"

#include "widgets/views/base/text/font_units.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace qs {

GraphSearchBar::GraphSearchBar(QWidget* parent)
    : QFrame(parent)
    , m_text(new QLineEdit(this))
    , m_count(new QLabel(this))
{
    setObjectName(QStringLiteral("graphSearch"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 4, 6, 4);
    row->addWidget(m_text, 1);
    row->addWidget(m_count);
    const auto button = [&](const QString& symbol, const QString& tip) {
        auto* made = new QToolButton(this);
        made->setText(symbol);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setAutoRaise(true);
        row->addWidget(made);
        return made;
    };
    connect(button(QStringLiteral("↑"), tr("Previous match (Shift+Enter)")), &QToolButton::clicked, this,
        [this] { emit stepped(-1); });
    connect(button(QStringLiteral("↓"), tr("Next match (Enter)")), &QToolButton::clicked, this,
        [this] { emit stepped(1); });
    connect(button(QStringLiteral("✕"), tr("Close (Escape)")), &QToolButton::clicked, this, &GraphSearchBar::closed);
    m_text->setPlaceholderText(tr("Find node, tensor or operator"));
    m_text->setAccessibleName(tr("Find in the graph"));
    m_text->setMinimumWidth(fontUnits(fontMetrics(), 190));
    connect(m_text, &QLineEdit::textChanged, this, &GraphSearchBar::edited);
    hide();
}

void GraphSearchBar::open()
{
    show();
    raise();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

QString GraphSearchBar::text() const { return m_text->text(); }

void GraphSearchBar::showCount(size_t current, size_t found)
{
    if (m_text->text().isEmpty())
        m_count->clear();
    else
        m_count->setText(found == 0 ? tr("none") : tr("%1 of %2").arg(current + 1).arg(found));
    adjustSize();
}

void GraphSearchBar::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        emit closed();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        emit stepped(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    else
        QFrame::keyPressEvent(event);
}

} // namespace qs

#include "moc_graph_search_bar.cpp"
