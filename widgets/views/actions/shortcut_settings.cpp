// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/shortcut_settings.h"

#include <QSettings>
#include <QStringList>

namespace qs {

namespace {

const QString kShortcutsGroup = QStringLiteral("shortcuts");

} // namespace

std::map<QString, QList<QKeySequence>> readShortcuts()
{
    std::map<QString, QList<QKeySequence>> shortcuts;
    QSettings settings;
    settings.beginGroup(kShortcutsGroup);
    for (const QString& id : settings.childKeys()) {
        QList<QKeySequence> keys;
        for (const QString& text : settings.value(id).toStringList())
            if (const QKeySequence key(text, QKeySequence::PortableText); !key.toString().isEmpty())
                keys << key;
        shortcuts[id] = keys;
    }
    return shortcuts;
}

void keepShortcuts(const QString& id, const std::optional<QList<QKeySequence>>& keys)
{
    QSettings settings;
    settings.beginGroup(kShortcutsGroup);
    if (!keys)
        return settings.remove(id);
    QStringList texts;
    for (const QKeySequence& key : *keys)
        texts << key.toString(QKeySequence::PortableText);
    settings.setValue(id, texts);
}

} // namespace qs
