// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/theme/style.h"

#include "widgets/views/theme/restyling.h"

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

/// What the style sheet calls the colours of a theme, and the palette's role that holds each (Theme::palette()). Longer
/// names first: @accentSoft must not be taken for @accent.
constexpr std::array<std::pair<const char*, const char*>, 12> kRoles { { { "@accentSoft", "highlight" },
    { "@onAccent", "dark" }, { "@accent", "link" }, { "@window", "window" }, { "@panel", "base" },
    { "@raised", "midlight" }, { "@border", "mid" }, { "@grid", "alternate-base" }, { "@text", "text" },
    { "@muted", "shadow" }, { "@error", "bright-text" }, { "@warning", "link-visited" } } };

QString styleSheet()
{
    QFile file(QStringLiteral(":/styles/quantscope.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString text = QString::fromUtf8(file.readAll());
    for (const auto& [name, role] : kRoles)
        text.replace(QLatin1String(name), QStringLiteral("palette(%1)").arg(QLatin1String(role)));
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
    application.setStyleSheet(styleSheet());
}

void applyTheme(const Theme& theme)
{
    QApplication::setPalette(theme.palette());
    QToolTip::setPalette(theme.palette());
    for (QWidget* window : QApplication::topLevelWidgets())
        if (!window->parentWidget()) // a floating dock would keep it when it is put back
            window->setProperty("shade", theme.dark ? QStringLiteral("dark") : QStringLiteral("light"));
    restyleWidgets();
}

} // namespace qs
