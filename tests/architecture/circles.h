// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMap>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QVector>

namespace qs {

/// Who knows whom, by name.
using Knowledge = QMap<QString, QSet<QString>>;

/// Groups of names that all reach each other, each sorted; empty where knowledge goes one way.
QVector<QStringList> circles(const Knowledge& knowledge);

} // namespace qs
