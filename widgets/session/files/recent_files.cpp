// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/recent_files.h"

#include "widgets/models/base/formatting.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

const QString kKey = QStringLiteral("recent");

bool samePlaces(const Inputs& a, const Inputs& b)
{
    return a.floatPath == b.floatPath && a.quantPath == b.quantPath && a.data.spec == b.data.spec;
}

std::string absolute(const std::string& path)
{
    const QFileInfo info(toQt(path));
    return path.empty() || !info.exists() ? path : info.absoluteFilePath().toStdString(); // "random:8" stays as it is
}

bool isThere(const std::string& path) { return path.empty() || QFileInfo::exists(toQt(path)); }

bool isThere(const Inputs& inputs)
{
    const auto dataThere
        = [](const DataRequest& data) { return data.spec.starts_with("random:") || isThere(data.spec); };
    return dataThere(inputs.data) && dataThere(inputs.calibration) && isThere(inputs.floatPath)
        && isThere(inputs.quantPath) && isThere(inputs.data.preprocess);
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
        m_entries.push_back(inputs);
    }
    settings.endArray();
}

void RecentFiles::add(const Inputs& inputs)
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
    // Opening is done piece by piece: the whole replaces the part.
    std::erase_if(m_entries, [&](const Inputs& old) {
        return samePlaces(old, entry)
            || (old.floatPath == entry.floatPath && (old.quantPath.empty() || old.data.spec.empty())
                && (old.quantPath.empty() || old.quantPath == entry.quantPath));
    });
    m_entries.insert(m_entries.begin(), entry);
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
    if (std::erase_if(m_entries, [](const Inputs& inputs) { return !isThere(inputs); }) == 0)
        return;
    save();
    emit changed();
}

QString RecentFiles::label(const Inputs& inputs)
{
    QStringList models;
    for (const std::string& path : { inputs.floatPath, inputs.quantPath }) {
        if (!path.empty())
            models << fileName(path);
    }
    const QString folder
        = QFileInfo(toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath)).dir().dirName();
    if (!models.isEmpty() && !folder.isEmpty() && folder != QLatin1String("."))
        models.front().prepend(folder + u'/');
    const QString data = inputs.data.spec.empty() ? QString() : QStringLiteral(" · ") + fileName(inputs.data.spec);
    return models.join(QStringLiteral(" ⇄ ")) + data;
}

void RecentFiles::save() const
{
    QSettings settings;
    settings.beginWriteArray(kKey, int(m_entries.size()));
    for (size_t i = 0; i < m_entries.size(); ++i) {
        settings.setArrayIndex(int(i));
        settings.setValue(QStringLiteral("float"), toQt(m_entries[i].floatPath));
        settings.setValue(QStringLiteral("quantized"), toQt(m_entries[i].quantPath));
        settings.setValue(QStringLiteral("data"), toQt(m_entries[i].data.spec));
        settings.setValue(QStringLiteral("preprocess"), toQt(m_entries[i].data.preprocess));
        settings.setValue(QStringLiteral("calibration"), toQt(m_entries[i].calibration.spec));
        settings.setValue(QStringLiteral("calibrationPreprocess"), toQt(m_entries[i].calibration.preprocess));
    }
    settings.endArray();
    settings.sync(); // at once: the next window may open before this one goes
}

} // namespace qs
