// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/theme/style.h"

#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_tips.h"
#include "widgets/views/theme/restyling.h"

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QPainter>
#include <QPointer>
#include <QRegularExpression>
#include <QStyleFactory>
#include <QSvgRenderer>
#include <QToolTip>

#include <array>
#include <clocale>
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

/// "18u" becomes the pixels that are 18 font units.
void replaceFontUnits(QString& text, const QFontMetrics& font)
{
    static const QRegularExpression kLength(QStringLiteral("\\b(\\d+)u\\b"));
    for (auto found = kLength.match(text); found.hasMatch(); found = kLength.match(text, found.capturedStart()))
        text.replace(found.capturedStart(), found.capturedLength(),
            QStringLiteral("%1px").arg(fontUnits(font, found.captured(1).toInt())));
}

QString styleSheet(const QFont& font)
{
    QFile file(QStringLiteral(":/styles/quantscope.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString text = QString::fromUtf8(file.readAll());
    for (const auto& [name, role] : kRoles)
        text.replace(QLatin1String(name), QStringLiteral("palette(%1)").arg(QLatin1String(role)));
    replaceFontUnits(text, QFontMetrics(font));
    return text;
}

/// The style sheet holds lengths that follow the font.
class FontFollower : public QObject {
public:
    explicit FontFollower(QApplication& application)
        : QObject(&application)
        , m_application(application)
    {
        application.installEventFilter(this);
        follow();
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (watched == &m_application && event->type() == QEvent::ApplicationFontChange)
            follow();
        return QObject::eventFilter(watched, event);
    }

private:
    void follow()
    {
        const QString sheet = styleSheet(QApplication::font());
        if (sheet != m_application.styleSheet())
            m_application.setStyleSheet(sheet);
    }

    QApplication& m_application;
};

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
    // Qt has taken the user's locale. What is written for programs has decimal points, and Graphviz would change this
    // for the whole process while it lays out beside the window. QLocale is not concerned.
    std::setlocale(LC_NUMERIC, "C");
    initResources();
    application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    if (QGuiApplication::platformName() == QLatin1String("offscreen")) {
        QFont font = application.font();
        font.setPointSizeF(kOffscreenPoints);
        application.setFont(font);
    }
    application.setWindowIcon(applicationIcon());
    static QPointer<FontFollower> follower;
    if (!follower)
        follower = new FontFollower(application);
    static QPointer<WrappedTips> tips;
    if (!tips)
        tips = new WrappedTips(&application);
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
