// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/window_settings.h"

#include <QSettings>

namespace qs {

namespace {

const QString kGeometryKey = QStringLiteral("window/geometry");
const QString kDocksKey = QStringLiteral("window/docks");
const QString kThemeKey = QStringLiteral("window/theme");
const QString kTryKey = QStringLiteral("findings/tryRemedies");

} // namespace

WindowSettings readWindowSettings()
{
    const QSettings settings;
    return { settings.value(kGeometryKey).toByteArray(), settings.value(kDocksKey).toByteArray(),
        themeChoiceFromName(settings.value(kThemeKey).toString()),
        settings.contains(kTryKey) ? std::optional(settings.value(kTryKey).toBool()) : std::nullopt };
}

void keepWindowSettings(const WindowSettings& kept)
{
    QSettings settings;
    if (!kept.geometry.isEmpty())
        settings.setValue(kGeometryKey, kept.geometry);
    if (!kept.docks.isEmpty())
        settings.setValue(kDocksKey, kept.docks);
    if (kept.theme)
        settings.setValue(kThemeKey, themeChoiceName(*kept.theme));
    if (kept.tryRemedies)
        settings.setValue(kTryKey, *kept.tryRemedies);
}

} // namespace qs
