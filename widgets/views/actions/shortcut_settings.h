// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>

#include <map>
#include <optional>

namespace qs {

/// The keys that the user's settings hold, by the names of the actions: those that are not the standard ones. An empty
/// list: the action has no keys.
std::map<QString, QList<QKeySequence>> readShortcuts();
/// Nothing: the action has its standard keys again.
void keepShortcuts(const QString& id, const std::optional<QList<QKeySequence>>& keys);

} // namespace qs
