// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>

namespace qs {

/// Files below the given folders of the source tree whose names match, as paths relative to it, sorted.
QStringList filesBelow(const QStringList& folders, const QStringList& patterns);

QString readText(const QString& relativePath);

struct Include {
    QString target; ///< what stands between the quotes or brackets
    bool quoted = false;
    int line = 0;
};

QVector<Include> includesOf(const QString& relativePath);

} // namespace qs
