// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/action_registry.h"

#include "widgets/views/actions/named_action.h"
#include "widgets/views/actions/shortcut_settings.h"

#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>

#include <algorithm>

namespace qs {

namespace {

/// "Save layout as…" is "save-layout-as".
QString idOfText(const QString& text)
{
    static const QRegularExpression kRest(QStringLiteral("[^a-z0-9]+"));
    QString id = plainText(text).toLower().replace(kRest, QStringLiteral("-"));
    while (id.endsWith(u'-'))
        id.chop(1);
    return id;
}

bool meet(const QKeySequence& a, const QKeySequence& b)
{
    return !a.isEmpty() && !b.isEmpty()
        && (a.matches(b) != QKeySequence::NoMatch || b.matches(a) != QKeySequence::NoMatch);
}

} // namespace

QAction* ActionEntry::action() const
{
    const auto alive = std::ranges::find_if(actions, [](const auto& action) { return !action.isNull(); });
    return alive == actions.end() ? nullptr : alive->data();
}

QString ActionEntry::text() const
{
    const QAction* now = action();
    return now ? plainText(now->text()) : QString();
}

QList<QKeySequence> ActionEntry::keys() const
{
    const QAction* now = action();
    return now ? now->shortcuts() : QList<QKeySequence>();
}

ActionRegistry::ActionRegistry(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
}

void ActionRegistry::collect()
{
    m_entries.clear();
    m_byId.clear();
    for (const QAction* action : m_window.menuBar()->actions())
        if (const QMenu* menu = action->menu())
            collectMenu(*menu, idOfText(action->text()), plainText(action->text()));
    for (QAction* action : m_window.findChildren<QAction*>())
        if (!actionId(*action).isEmpty())
            add(*action, actionScope(*action));
    refreshWidgets();
    emit changed();
}

void ActionRegistry::collectMenu(const QMenu& menu, const QString& id, const QString& path)
{
    for (QAction* action : menu.actions()) {
        if (const QMenu* inner = action->menu()) {
            const QString text = plainText(action->text());
            collectMenu(*inner, id + u'.' + idOfText(text), path + QStringLiteral(" ▸ ") + text);
        } else if (!action->isSeparator() && !isList(menu)) {
            if (actionId(*action).isEmpty())
                nameAction(*action, id + u'.' + idOfText(action->text()));
            add(*action, path);
        }
    }
}

void ActionRegistry::add(QAction& action, const QString& path)
{
    const QString id = actionId(action);
    const auto standard = m_standard.try_emplace(id, action.shortcuts()).first;
    const auto [at, isNew] = m_byId.try_emplace(id, m_entries.size());
    if (isNew)
        m_entries.push_back({ id, actionScope(action), path, standard->second, {} });
    ActionEntry& entry = m_entries[at->second];
    if (std::ranges::find(entry.actions, QPointer(&action)) == entry.actions.end())
        entry.actions.emplace_back(&action);
    if (const auto chosen = m_chosen.find(id); chosen != m_chosen.end())
        action.setShortcuts(chosen->second);
}

const ActionEntry* ActionRegistry::find(const QString& id) const
{
    const auto at = m_byId.find(id);
    return at == m_byId.end() ? nullptr : &m_entries[at->second];
}

void ActionRegistry::remember()
{
    m_remembers = true;
    m_chosen = readShortcuts();
    for (const ActionEntry& entry : m_entries)
        if (const auto chosen = m_chosen.find(entry.id); chosen != m_chosen.end())
            apply(entry, chosen->second);
    refreshWidgets();
    emit changed();
}

void ActionRegistry::apply(const ActionEntry& entry, const QList<QKeySequence>& keys)
{
    for (const QPointer<QAction>& action : entry.actions)
        if (action)
            action->setShortcuts(keys);
    if (keys == entry.standard)
        m_chosen.erase(entry.id);
    else
        m_chosen[entry.id] = keys;
}

void ActionRegistry::keep(const ActionEntry& entry) const
{
    if (m_remembers)
        keepShortcuts(entry.id, isChanged(entry) ? std::optional(entry.keys()) : std::nullopt);
}

void ActionRegistry::setKeys(const QString& id, const QList<QKeySequence>& keys)
{
    const ActionEntry* entry = find(id);
    if (!entry)
        return;
    apply(*entry, keys);
    keep(*entry);
    refreshWidgets();
    emit changed();
}

void ActionRegistry::reset(const QString& id)
{
    if (const ActionEntry* entry = find(id))
        setKeys(id, entry->standard);
}

void ActionRegistry::resetAll()
{
    for (const ActionEntry& entry : m_entries) {
        apply(entry, entry.standard);
        keep(entry);
    }
    refreshWidgets();
    emit changed();
}

std::vector<const ActionEntry*> ActionRegistry::rivals(const ActionEntry& entry, const QKeySequence& keys) const
{
    std::vector<const ActionEntry*> found;
    for (const ActionEntry& other : m_entries) {
        const bool together = entry.scope.isEmpty() || other.scope.isEmpty() || entry.scope == other.scope;
        if (other.id == entry.id || !together)
            continue;
        const QList<QKeySequence> its = other.keys();
        if (std::ranges::any_of(its, [&](const QKeySequence& key) { return meet(key, keys); }))
            found.push_back(&other);
    }
    return found;
}

QString ActionRegistry::menuOpenedBy(const QKeySequence& keys) const
{
    for (const QAction* action : m_window.menuBar()->actions())
        if (action->isVisible() && meet(QKeySequence::mnemonic(action->text()), keys))
            return plainText(action->text());
    return {};
}

/// Tool tips and texts that name keys.
void ActionRegistry::refreshWidgets() const
{
    const auto keysOf = [this](const QString& id) -> std::optional<QString> {
        const ActionEntry* entry = find(id);
        return entry ? std::optional(keysText(entry->keys())) : std::nullopt;
    };
    for (QWidget* widget : m_window.findChildren<QWidget*>())
        if (!widget->dynamicPropertyNames().isEmpty()) // of thousands, few have any
            showKeys(*widget, keysOf);
}

} // namespace qs

#include "moc_action_registry.cpp"
