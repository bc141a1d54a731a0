// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/circles.h"

namespace qs {

namespace {

/// Everything that can be reached from `name`, itself only by a circle.
QSet<QString> reached(const Knowledge& knowledge, const QString& name)
{
    QSet<QString> seen;
    QStringList open { name };
    while (!open.isEmpty()) {
        for (const QString& next : knowledge.value(open.takeLast())) {
            if (!seen.contains(next)) {
                seen.insert(next);
                open << next;
            }
        }
    }
    return seen;
}

} // namespace

QVector<QStringList> circles(const Knowledge& knowledge)
{
    QMap<QString, QSet<QString>> reach;
    for (auto it = knowledge.begin(); it != knowledge.end(); ++it)
        reach[it.key()] = reached(knowledge, it.key());
    QVector<QStringList> found;
    QSet<QString> told;
    for (auto it = reach.begin(); it != reach.end(); ++it) {
        if (told.contains(it.key()) || !it->contains(it.key()))
            continue;
        QStringList group;
        for (const QString& other : *it)
            if (reach.value(other).contains(it.key()))
                group << other;
        group.sort();
        for (const QString& name : group)
            told.insert(name);
        found << group;
    }
    return found;
}

} // namespace qs
