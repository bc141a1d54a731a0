// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/source_files.h"

#include <QFileInfo>
#include <QSettings>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kKeptFolders = 20;
const QString kSourcesKey = QStringLiteral("sourceFolders");

bool isSeparator(QChar c) { return c == u'/' || c == u'\\'; }

bool isNetwork(const QString& path) { return path.size() > 1 && isSeparator(path[0]) && isSeparator(path[1]); }

bool isAbsolute(const QString& path)
{
    return (!path.isEmpty() && isSeparator(path[0])) || (path.size() > 1 && path[1] == u':');
}

/// Characters at the end of both that are whole equal names, with what separates them.
qsizetype commonEnd(const QString& a, const QString& b)
{
    qsizetype common = 0;
    for (qsizetype n = 1; n <= std::min(a.size(), b.size()); ++n) {
        const QChar x = a[a.size() - n], y = b[b.size() - n];
        if (x != y && !(isSeparator(x) && isSeparator(y)))
            break;
        const bool whole = (n == a.size() || isSeparator(a[a.size() - n - 1]))
            && (n == b.size() || isSeparator(b[b.size() - n - 1]));
        if (whole && !isSeparator(x))
            common = n;
    }
    return common;
}

QString fileHere(const QString& path) { return !isNetwork(path) && QFileInfo(path).isFile() ? path : QString(); }

} // namespace

SourceFiles::SourceFiles()
{
    QSettings settings;
    const int count = settings.beginReadArray(kSourcesKey);
    for (int i = 0; i < std::min(count, int(kKeptFolders)); ++i) {
        settings.setArrayIndex(i);
        m_folders.emplace_back(
            settings.value(QStringLiteral("trace")).toString(), settings.value(QStringLiteral("here")).toString());
    }
    settings.endArray();
}

QString SourceFiles::find(const QString& path) const
{
    for (const auto& [trace, here] : m_folders) {
        if (!path.startsWith(trace) || (trace.isEmpty() && isAbsolute(path)))
            continue;
        if (QString found = fileHere(here + path.mid(trace.size()).replace(u'\\', u'/')); !found.isEmpty())
            return found;
    }
    return isAbsolute(path) ? fileHere(path) : QString();
}

void SourceFiles::locate(const QString& path, const QString& here)
{
    const qsizetype common = commonEnd(path, here);
    const auto folder = std::pair(path.chopped(common), here.chopped(common));
    std::erase_if(m_folders, [&](const auto& known) { return known.first == folder.first; });
    m_folders.insert(m_folders.begin(), folder);
    m_folders.resize(std::min(m_folders.size(), kKeptFolders));
    QSettings settings;
    settings.beginWriteArray(kSourcesKey, int(m_folders.size()));
    for (size_t i = 0; i < m_folders.size(); ++i) {
        settings.setArrayIndex(int(i));
        settings.setValue(QStringLiteral("trace"), m_folders[i].first);
        settings.setValue(QStringLiteral("here"), m_folders[i].second);
    }
    settings.endArray();
}

bool SourceFiles::isSource(const QString& path)
{
    static const QStringList endings { QStringLiteral("py"), QStringLiteral("pyi"), QStringLiteral("pyx"),
        QStringLiteral("ipynb"), QStringLiteral("txt"), QStringLiteral("c"), QStringLiteral("cc"),
        QStringLiteral("cpp"), QStringLiteral("cu"), QStringLiteral("h"), QStringLiteral("hpp") };
    return endings.contains(QFileInfo(path).suffix().toLower());
}

} // namespace qs
