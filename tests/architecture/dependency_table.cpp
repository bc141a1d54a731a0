// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/dependency_table.h"

#include "tests/architecture/source_files.h"

#include <QHash>
#include <QStringList>

namespace qs {

namespace {

/// What each part builds on directly, by folder: the table of ARCHITECTURE.md, whose first column names a folder
/// between backquotes and whose third one names the parts below it without theirs.
QHash<QString, QStringList> readTable()
{
    QHash<QString, QStringList> parts;
    QHash<QString, QString> folders; // by what the third column calls them
    QHash<QString, QString> below;
    for (const QString& line : readText("ARCHITECTURE.md").split('\n')) {
        const QStringList cells = line.split('|');
        const QString folder = cells.value(1).trimmed();
        if (cells.size() < 5 || !folder.startsWith('`') || !folder.endsWith('`') || folder.count('/') != 1)
            continue;
        const QString path = folder.mid(1, folder.size() - 2);
        folders[path.section('/', 1)] = path;
        below[path] = cells[3];
    }
    for (auto it = below.begin(); it != below.end(); ++it) {
        QStringList& list = parts[it.key()];
        for (const QString& name : it.value().split(',')) {
            if (const QString word = name.trimmed(); !word.isEmpty() && word != QString(QChar(0x2013)))
                list << folders.value(word, word); // a word that is no part allows nothing: the include shows up
        }
    }
    return parts;
}

const QHash<QString, QStringList>& table()
{
    static const QHash<QString, QStringList> parts = readTable();
    return parts;
}

void collect(const QString& part, QSet<QString>& into)
{
    if (into.contains(part))
        return;
    into.insert(part);
    for (const QString& below : table().value(part))
        collect(below, into);
}

} // namespace

QStringList allParts() { return table().keys(); }

QString partOf(const QString& path)
{
    const QStringList pieces = path.split('/');
    if (pieces.size() < 3 || (pieces[0] != "core" && pieces[0] != "widgets" && pieces[0] != "app"))
        return {};
    return pieces[0] + '/' + pieces[1];
}

QSet<QString> allowedParts(const QString& part)
{
    QSet<QString> parts;
    if (table().contains(part))
        collect(part, parts);
    return parts;
}

QString testedPart(const QString& testFolder)
{
    for (const QString& top : { QStringLiteral("core/"), QStringLiteral("widgets/") }) {
        if (table().contains(top + testFolder))
            return top + testFolder;
    }
    return {};
}

} // namespace qs
