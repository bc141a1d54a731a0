// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/recent_files.h"

#include "core/base/text/distinct_names.h"
#include "widgets/models/base/formatting.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSettings>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

const QString kKey = QStringLiteral("recent");

/// Nothing of it would be missed.
bool isPart(const Inputs& part, const Inputs& whole)
{
    const auto same = [](const std::string& a, const std::string& b) { return a.empty() || a == b; };
    return same(part.floatPath, whole.floatPath) && same(part.quantPath, whole.quantPath)
        && same(part.data.spec, whole.data.spec);
}

std::string absolute(const std::string& path)
{
    const QFileInfo info(toQt(path));
    return path.empty() || !info.exists() ? path : info.absoluteFilePath().toStdString(); // "random:8" stays as it is
}

bool isThere(const std::string& path) { return path.empty() || QFileInfo::exists(toQt(path)); }

bool isThere(const RecentEntry& entry)
{
    if (!entry.project.isEmpty())
        return QFileInfo::exists(entry.project);
    const Inputs& inputs = entry.inputs;
    const auto dataThere
        = [](const DataRequest& data) { return data.spec.starts_with("random:") || isThere(data.spec); };
    return dataThere(inputs.data) && dataThere(inputs.calibration) && isThere(inputs.floatPath)
        && isThere(inputs.quantPath) && isThere(inputs.data.preprocess);
}

/// The name in place of what stands first.
QString named(const RecentEntry& entry, const QString& name)
{
    const QString whole = RecentFiles::label(entry);
    const auto first = whole.indexOf(QRegularExpression(QStringLiteral(" [⇄·] ")));
    return name + (first < 0 ? QString() : whole.mid(first));
}

std::string leadingPath(const RecentEntry& entry)
{
    if (!entry.project.isEmpty())
        return entry.project.toStdString();
    return entry.inputs.floatPath.empty() ? entry.inputs.quantPath : entry.inputs.floatPath;
}

} // namespace

RecentFiles::RecentFiles(QObject* parent)
    : QObject(parent)
{
    QSettings settings;
    const int count = settings.beginReadArray(kKey);
    for (int i = 0; i < std::min(count, kKept); ++i) {
        settings.setArrayIndex(i);
        Inputs inputs;
        inputs.floatPath = settings.value(QStringLiteral("float")).toString().toStdString();
        inputs.quantPath = settings.value(QStringLiteral("quantized")).toString().toStdString();
        inputs.data.spec = settings.value(QStringLiteral("data")).toString().toStdString();
        inputs.data.preprocess = settings.value(QStringLiteral("preprocess")).toString().toStdString();
        inputs.calibration.spec = settings.value(QStringLiteral("calibration")).toString().toStdString();
        inputs.calibration.preprocess
            = settings.value(QStringLiteral("calibrationPreprocess")).toString().toStdString();
        m_entries.push_back({ settings.value(QStringLiteral("project")).toString(), inputs });
    }
    settings.endArray();
}

void RecentFiles::add(const Inputs& inputs, const QString& project)
{
    if (inputs.floatPath.empty() && inputs.quantPath.empty())
        return;
    Inputs entry;
    entry.floatPath = absolute(inputs.floatPath);
    entry.quantPath = absolute(inputs.quantPath);
    entry.data.spec = absolute(inputs.data.spec);
    entry.data.preprocess = absolute(inputs.data.preprocess);
    entry.calibration.spec = absolute(inputs.calibration.spec);
    entry.calibration.preprocess = absolute(inputs.calibration.preprocess);
    const QString file = project.isEmpty() ? QString() : QFileInfo(project).absoluteFilePath();
    // Opening is done piece by piece: the whole replaces the part.
    const auto replaced = [&](const RecentEntry& old) {
        if (!file.isEmpty() || !old.project.isEmpty())
            return old.project == file;
        return isPart(old.inputs, entry);
    };
    std::erase_if(m_entries, replaced);
    m_entries.insert(m_entries.begin(), { file, entry });
    if (m_entries.size() > size_t(kKept))
        m_entries.resize(size_t(kKept));
    save();
    emit changed();
}

void RecentFiles::clear()
{
    m_entries.clear();
    save();
    emit changed();
}

void RecentFiles::dropMissing()
{
    if (std::erase_if(m_entries, [](const RecentEntry& entry) { return !isThere(entry); }) == 0)
        return;
    save();
    emit changed();
}

QString RecentFiles::label(const Inputs& inputs)
{
    const auto [floatName, quantName] = fileNames(inputs.floatPath, inputs.quantPath);
    QStringList models { floatName, quantName };
    models.removeAll(QString());
    const QString folder
        = QFileInfo(toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath)).dir().dirName();
    if (!models.isEmpty() && !folder.isEmpty() && folder != QLatin1String(".") && !models.front().contains(u'/'))
        models.front().prepend(folder + u'/');
    const QString data = inputs.data.spec.empty() ? QString() : QStringLiteral(" · ") + fileName(inputs.data.spec);
    return models.join(QStringLiteral(" ⇄ ")) + data;
}

QString RecentFiles::label(const RecentEntry& entry)
{
    return entry.project.isEmpty() ? label(entry.inputs)
                                   : QFileInfo(entry.project).fileName() + QStringLiteral(" · ") + label(entry.inputs);
}

QStringList RecentFiles::labels() const
{
    QStringList labels;
    for (const RecentEntry& entry : m_entries)
        labels << label(entry);
    const QStringList brief = labels;
    for (size_t i = 0; i < m_entries.size(); ++i) {
        std::vector<std::string> paths;
        size_t own = 0;
        for (size_t other = 0; other < m_entries.size(); ++other)
            if (brief[qsizetype(other)] == brief[qsizetype(i)]) {
                own = other == i ? paths.size() : own;
                paths.push_back(leadingPath(m_entries[other]));
            }
        if (paths.size() > 1)
            labels[qsizetype(i)] = named(m_entries[i], toQt(distinctFileNames(paths)[own]));
    }
    return labels;
}

void RecentFiles::save() const
{
    QSettings settings;
    settings.beginWriteArray(kKey, int(m_entries.size()));
    for (size_t i = 0; i < m_entries.size(); ++i) {
        settings.setArrayIndex(int(i));
        const Inputs& inputs = m_entries[i].inputs;
        settings.setValue(QStringLiteral("project"), m_entries[i].project);
        settings.setValue(QStringLiteral("float"), toQt(inputs.floatPath));
        settings.setValue(QStringLiteral("quantized"), toQt(inputs.quantPath));
        settings.setValue(QStringLiteral("data"), toQt(inputs.data.spec));
        settings.setValue(QStringLiteral("preprocess"), toQt(inputs.data.preprocess));
        settings.setValue(QStringLiteral("calibration"), toQt(inputs.calibration.spec));
        settings.setValue(QStringLiteral("calibrationPreprocess"), toQt(inputs.calibration.preprocess));
    }
    settings.endArray();
    settings.sync(); // at once: the next window may open before this one goes
}

} // namespace qs

#include "moc_recent_files.cpp"
