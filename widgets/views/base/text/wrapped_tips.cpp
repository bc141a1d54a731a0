// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/wrapped_tips.h"

#include "widgets/views/base/text/wrapped_text.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>

namespace qs {

namespace {

constexpr qsizetype kWideTip = 72; ///< letters of a line

/// Of a view the row or the column head at the place, else the widget's own; "": somebody else is asked.
QString tipAt(const QWidget& widget, const QPoint& at)
{
    const auto* view = qobject_cast<const QAbstractItemView*>(widget.parentWidget());
    if (!view || view->viewport() != &widget || !view->model())
        return widget.toolTip();
    if (const auto* header = qobject_cast<const QHeaderView*>(view)) {
        const int section = header->logicalIndexAt(at);
        return section < 0 ? QString()
                           : view->model()->headerData(section, header->orientation(), Qt::ToolTipRole).toString();
    }
    const QModelIndex index = view->indexAt(at);
    return index.isValid() ? index.data(Qt::ToolTipRole).toString() : QString();
}

} // namespace

QString wrappedTip(const QString& text)
{
    const QStringList lines = text.split(u'\n');
    const bool wide = std::ranges::any_of(lines, [](const QString& line) { return line.size() > kWideTip; });
    if (!wide || Qt::mightBeRichText(text))
        return text;
    return QStringLiteral("<p style=\"white-space:pre-wrap\">%1</p>").arg(breakable(text).toHtmlEscaped());
}

WrappedTips::WrappedTips(QObject* parent)
    : QObject(parent)
{
    QCoreApplication::instance()->installEventFilter(this);
}

bool WrappedTips::eventFilter(QObject* watched, QEvent* event)
{
    auto* widget = event->type() == QEvent::ToolTip ? qobject_cast<QWidget*>(watched) : nullptr;
    if (!widget)
        return QObject::eventFilter(watched, event);
    const auto& help = static_cast<const QHelpEvent&>(*event);
    const QString text = tipAt(*widget, help.pos()), wrapped = wrappedTip(text);
    if (wrapped == text)
        return QObject::eventFilter(watched, event);
    QToolTip::showText(help.globalPos(), wrapped, widget, {}, widget->toolTipDuration());
    return true;
}

} // namespace qs
