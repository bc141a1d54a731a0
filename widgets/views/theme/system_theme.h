// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusVariant>
#include <QObject>

namespace qs {

/// Light or dark as the desktop wishes: from the desktop portal (org.freedesktop.appearance), else from the palette the
/// program started with. Asking never blocks.
class SystemTheme : public QObject {
    Q_OBJECT
public:
    explicit SystemTheme(QObject* parent = nullptr);
    bool dark() const { return m_dark; }
    void ask(); ///< starts listening to the portal

signals:
    void changed(bool dark);

private slots:
    void portalChanged(const QString& space, const QString& key, const QDBusVariant& value);

private:
    void take(const QVariant& value);
    bool m_dark = false;
};

} // namespace qs
