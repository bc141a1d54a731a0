// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/theme/system_theme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QGuiApplication>
#include <QPalette>

namespace qs {

namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kSpace = QStringLiteral("org.freedesktop.appearance");
const QString kKey = QStringLiteral("color-scheme");
constexpr uint kPreferDark = 1; ///< 0 = no preference, 2 = light

} // namespace

SystemTheme::SystemTheme(QObject* parent)
    : QObject(parent)
    , m_dark(QGuiApplication::palette().color(QPalette::Window).lightness() < 128)
{
}

void SystemTheme::ask()
{
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), this,
        SLOT(portalChanged(QString, QString, QDBusVariant)));
    QDBusMessage call = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
    call << kSpace << kKey;
    auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        if (!reply.isError())
            take(reply.value().variant());
        watcher->deleteLater();
    });
}

void SystemTheme::portalChanged(const QString& space, const QString& key, const QDBusVariant& value)
{
    if (space == kSpace && key == kKey)
        take(value.variant());
}

void SystemTheme::take(const QVariant& value)
{
    QVariant inner = value; // Read wraps the value twice
    while (inner.canConvert<QDBusVariant>())
        inner = inner.value<QDBusVariant>().variant();
    const bool dark = inner.toUInt() == kPreferDark;
    if (dark == m_dark)
        return;
    m_dark = dark;
    emit changed(dark);
}

} // namespace qs

#include "moc_system_theme.cpp"
