// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/named_action.h"

#include <QAbstractButton>
#include <QVariant>

namespace qs {

namespace {

constexpr const char* kId = "actionId";
constexpr const char* kScope = "actionScope";
constexpr const char* kWhyNot = "whyNot";
constexpr const char* kOwnTip = "ownTip";
constexpr const char* kList = "listOfEntries";
constexpr const char* kTipOf = "keyTipOf";
constexpr const char* kTip = "keyTip";
constexpr const char* kTextOf = "keyTextOf";
constexpr const char* kText = "keyText";

/// The action of the window of that widget; null: there is none.
const QAction* actionAround(const QWidget* widget, const QString& id)
{
    while (widget && widget->parentWidget()) // a floating panel, too, belongs to the window
        widget = widget->parentWidget();
    if (widget)
        for (const QAction* action : widget->findChildren<QAction*>())
            if (actionId(*action) == id)
                return action;
    return nullptr;
}

} // namespace

void nameAction(QAction& action, const QString& id, const QString& scope)
{
    action.setProperty(kId, id);
    action.setProperty(kScope, scope);
}

QString actionId(const QAction& action) { return action.property(kId).toString(); }

QString actionScope(const QAction& action) { return action.property(kScope).toString(); }

void enable(QAction& action, bool on, const QString& whyNot)
{
    if (!action.property(kOwnTip).isValid()) { // what a tool tip says that nobody set is the text
        const bool own = action.toolTip() != action.iconText();
        action.setProperty(kOwnTip, own ? action.toolTip() : QString());
    }
    action.setEnabled(on);
    action.setProperty(kWhyNot, on ? QString() : whyNot);
    action.setToolTip(on ? action.property(kOwnTip).toString() : whyNot);
    action.setStatusTip(on ? QString() : whyNot);
}

void enableMenu(QMenu& menu, bool on, const QString& whyNot)
{
    enable(*menu.menuAction(), on, whyNot);
    for (QAction* entry : menu.actions())
        enable(*entry, on, whyNot);
}

void setTip(QAction& action, const QString& tip)
{
    action.setProperty(kOwnTip, tip);
    if (action.isEnabled())
        action.setToolTip(tip);
}

QString whyNot(const QAction& action) { return action.property(kWhyNot).toString(); }

QString plainText(const QString& text)
{
    QString plain;
    const qsizetype end = text.indexOf(u'\t') < 0 ? text.size() : text.indexOf(u'\t');
    for (qsizetype i = 0; i < end; ++i) {
        if (text[i] == u'&' && ++i == end)
            break;
        plain += text[i];
    }
    return plain;
}

QString withoutMnemonics(QString text) { return text.replace(u'&', QStringLiteral("&&")); }

QString withKeys(const QString& text, const QAction& action)
{
    const QString keys = keysText(action.shortcuts().mid(0, 1));
    return withoutMnemonics(text) + (keys.isEmpty() ? QString() : u'\t' + keys);
}

QString withKeys(const QString& text, const QWidget* widget, const QString& id)
{
    const QAction* action = actionAround(widget, id);
    return action ? withKeys(text, *action) : withoutMnemonics(text);
}

QString keysText(const QList<QKeySequence>& keys)
{
    QStringList texts;
    for (const QKeySequence& key : keys)
        if (!key.isEmpty())
            texts << key.toString(QKeySequence::NativeText);
    return texts.join(QStringLiteral(", "));
}

void markAsList(QMenu& menu) { menu.setProperty(kList, true); }

bool isList(const QMenu& menu) { return menu.property(kList).toBool(); }

void setKeyTip(QWidget& widget, const QString& id, const QString& tip)
{
    widget.setProperty(kTipOf, id);
    widget.setProperty(kTip, tip);
    showKeys(widget, [&widget](const QString& its) {
        const QAction* action = actionAround(&widget, its);
        return action ? keysText(action->shortcuts()) : QString();
    });
}

void setKeyText(QAbstractButton& button, const QString& id, const QString& text)
{
    button.setProperty(kTextOf, id);
    button.setProperty(kText, text);
    button.setText(text);
}

void showKeys(QWidget& widget, const std::function<std::optional<QString>(const QString& id)>& keysOf)
{
    if (const QString id = widget.property(kTipOf).toString(); !id.isEmpty())
        if (const auto keys = keysOf(id)) {
            const QString tip = widget.property(kTip).toString();
            widget.setToolTip(keys->isEmpty() ? tip : tip + QStringLiteral(" (%1)").arg(*keys));
        }
    if (const QString id = widget.property(kTextOf).toString(); !id.isEmpty())
        if (const auto keys = keysOf(id)) {
            const QString text = widget.property(kText).toString();
            static_cast<QAbstractButton&>(widget).setText(
                keys->isEmpty() ? text : text + QStringLiteral("  ") + keys->section(u',', 0, 0));
        }
}

} // namespace qs
