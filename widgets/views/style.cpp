// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/style.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QStyleFactory>
#include <QSvgRenderer>
#include <QToolTip>

#include <array>
#include <utility>

static void initResources() { Q_INIT_RESOURCE(quantscope); }

namespace qs {

namespace {

constexpr double kOffscreenPoints = 9.75; ///< 13 px; the offscreen platform knows no desktop font

QString filledStyleSheet(const Theme& theme)
{
    QFile file(QStringLiteral(":/styles/quantscope.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString text = QString::fromUtf8(file.readAll());
    // Longer names first: @accentSoft must not be taken for @accent.
    const std::array<std::pair<const char*, QColor>, 12> names { { { "@accentSoft", theme.accentSoft },
        { "@onAccent", theme.onAccent }, { "@accent", theme.accent }, { "@window", theme.window },
        { "@panel", theme.panel }, { "@raised", theme.raised }, { "@border", theme.border }, { "@grid", theme.grid },
        { "@text", theme.text }, { "@muted", theme.muted }, { "@error", theme.error },
        { "@warning", theme.warning } } };
    for (const auto& [name, colour] : names)
        text.replace(QLatin1String(name), colour.name());
    text.replace(QLatin1String("@shade"), theme.dark ? QLatin1String("dark") : QLatin1String("light"));
    return text;
}

} // namespace

QIcon applicationIcon()
{
    QSvgRenderer renderer(QStringLiteral(":/icons/quantscope.svg"));
    QIcon icon;
    for (const int size : { 16, 32, 64, 128 }) {
        QPixmap pixmap(size, size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        renderer.render(&painter);
        painter.end();
        icon.addPixmap(pixmap);
    }
    return icon;
}

void setUpApplication(QApplication& application)
{
    initResources();
    application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    if (QGuiApplication::platformName() == QLatin1String("offscreen")) {
        QFont font = application.font();
        font.setPointSizeF(kOffscreenPoints);
        application.setFont(font);
    }
    application.setWindowIcon(applicationIcon());
}

void applyTheme(const Theme& theme)
{
    QApplication::setPalette(theme.palette());
    QToolTip::setPalette(theme.palette());
    qApp->setStyleSheet(filledStyleSheet(theme));
}

} // namespace qs
