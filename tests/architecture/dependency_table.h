// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QString>
#include <QStringList>

namespace qs {

/// The parts that the table in ARCHITECTURE.md names, as folders. That table is the only list of who may know whom.
QStringList allParts();

/// Folder a source belongs to: "core/base", "widgets/views", "app/cli"; empty for a path outside of the three.
QString partOf(const QString& path);

/// Parts that `part` may include, itself among them: the closure of the table. Empty: no such part.
QSet<QString> allowedParts(const QString& part);

/// The part that tests/<folder> covers ("core/graph" for "graph"); empty for folders that test the whole program.
QString testedPart(const QString& testFolder);

} // namespace qs
