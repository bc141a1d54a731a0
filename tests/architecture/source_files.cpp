// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/source_files.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>

namespace qs {

QStringList filesBelow(const QStringList& folders, const QStringList& patterns)
{
    const QDir root(QS_SOURCE_DIR);
    QStringList files;
    for (const QString& folder : folders) {
        QDirIterator it(root.filePath(folder), patterns, QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext())
            files << root.relativeFilePath(it.next());
    }
    files.sort();
    return files;
}

QString readText(const QString& relativePath)
{
    QFile file(QDir(QS_SOURCE_DIR).filePath(relativePath));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QVector<Include> includesOf(const QString& relativePath)
{
    static const QRegularExpression pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
    QVector<Include> includes;
    const QStringList lines = readText(relativePath).split('\n');
    for (int i = 0; i < lines.size(); ++i) {
        const QRegularExpressionMatch match = pattern.match(lines[i]);
        if (match.hasMatch())
            includes.push_back({ match.captured(2), match.captured(1) == "\"", i + 1 });
    }
    return includes;
}

} // namespace qs
