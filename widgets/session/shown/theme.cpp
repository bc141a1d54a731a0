// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

/// Stops of the cividis colour map, dark end first, linear in between; readable with every kind of colour vision.
constexpr std::array<QRgb, 10> kCividis { 0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74,
    0xc3b369, 0xe1cc55, 0xfee838 };

QColor cividis(double t)
{
    const double at = std::clamp(std::isnan(t) ? 0.0 : t, 0.0, 1.0) * double(kCividis.size() - 1);
    const size_t i = std::min(static_cast<size_t>(at), kCividis.size() - 2);
    const double f = at - double(i);
    const QColor a(kCividis[i]), b(kCividis[i + 1]);
    const auto mix = [f](int from, int to) { return int(std::lround(from + f * (to - from))); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

} // namespace

QString themeChoiceName(ThemeChoice choice)
{
    return choice == ThemeChoice::Light ? QStringLiteral("light")
        : choice == ThemeChoice::Dark   ? QStringLiteral("dark")
                                        : QStringLiteral("system");
}

std::optional<ThemeChoice> themeChoiceFromName(const QString& name)
{
    for (const ThemeChoice choice : { ThemeChoice::System, ThemeChoice::Light, ThemeChoice::Dark })
        if (name == themeChoiceName(choice))
            return choice;
    return {};
}

Theme Theme::light()
{
    Theme t;
    t.window = QColor(0xf6f8fa);
    t.panel = QColor(0xffffff);
    t.raised = QColor(0xeaeef2);
    t.border = QColor(0xd0d7de);
    t.grid = QColor(0xe7ebef);
    t.text = QColor(0x1f2328);
    t.muted = QColor(0x59636e);
    t.accent = QColor(0x0969da);
    t.accentSoft = QColor(0xddf4ff);
    t.onAccent = QColor(0xffffff);
    t.error = QColor(0xbc4c00);
    t.warning = QColor(0xbf8700);
    t.note = QColor(0x57606a);
    t.floatSeries = QColor(0x0072b2);
    t.quantSeries = QColor(0xe69f00);
    t.noiseSeries = QColor(0xcc79a7);
    t.idealSeries = QColor(0x8c959f);
    t.otherSeries = QColor(0x009e73);
    t.clipping = QColor(0xd55e00);
    t.rounding = QColor(0x0072b2);
    t.weights = QColor(0x009e73);
    t.kernel = QColor(0xcc79a7);
    t.inherited = QColor(0xb8bec4);
    return t;
}

Theme Theme::darkOne()
{
    Theme t;
    t.dark = true;
    t.window = QColor(0x0d1117);
    t.panel = QColor(0x161b22);
    t.raised = QColor(0x262c36);
    t.border = QColor(0x30363d);
    t.grid = QColor(0x252b33);
    t.text = QColor(0xe6edf3);
    t.muted = QColor(0x9aa4af);
    t.accent = QColor(0x4493f8);
    t.accentSoft = QColor(0x12305a);
    t.onAccent = QColor(0x0d1117);
    t.error = QColor(0xf0883e);
    t.warning = QColor(0xd4a72c);
    t.note = QColor(0x8b949e);
    t.floatSeries = QColor(0x56b4e9);
    t.quantSeries = QColor(0xe69f00);
    t.noiseSeries = QColor(0xcc79a7);
    t.idealSeries = QColor(0x7d8590);
    t.otherSeries = QColor(0x2bc7a0);
    t.clipping = QColor(0xe8731a);
    t.rounding = QColor(0x56b4e9);
    t.weights = QColor(0x2bb58c);
    t.kernel = QColor(0xd694bb);
    t.inherited = QColor(0x565e67);
    return t;
}

QColor Theme::magnitude(double badness) const { return cividis(badness); }

QColor Theme::difference(double position) const
{
    const double at = std::clamp(std::isnan(position) ? 0.0 : position, -1.0, 1.0);
    const QColor middle(dark ? 0x3d444d : 0xd8dee4), end(at < 0 ? 0xd55e00 : 0x0072b2);
    const auto mix = [f = std::fabs(at)](int from, int to) { return int(std::lround(from + f * (to - from))); };
    return QColor(mix(middle.red(), end.red()), mix(middle.green(), end.green()), mix(middle.blue(), end.blue()));
}

QColor Theme::textOn(const QColor& background)
{
    const auto linear = [](double channel) { return std::pow(channel, 2.2); };
    const double luminance = 0.2126 * linear(background.redF()) + 0.7152 * linear(background.greenF())
        + 0.0722 * linear(background.blueF());
    return luminance > 0.2 ? QColor(0x111418) : QColor(Qt::white);
}

QPalette Theme::palette() const
{
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, panel);
    p.setColor(QPalette::AlternateBase, grid);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::PlaceholderText, muted);
    p.setColor(QPalette::Button, panel);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::ToolTipBase, panel);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Highlight, accentSoft);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::LinkVisited, warning);
    p.setColor(QPalette::BrightText, error);
    p.setColor(QPalette::Light, panel);
    p.setColor(QPalette::Midlight, raised);
    p.setColor(QPalette::Mid, border);
    p.setColor(QPalette::Dark, onAccent);
    p.setColor(QPalette::Shadow, muted);
    for (const QPalette::ColorRole role : { QPalette::WindowText, QPalette::Text, QPalette::ButtonText }) {
        QColor faded = muted;
        faded.setAlpha(150);
        p.setColor(QPalette::Disabled, role, faded);
    }
    return p;
}

} // namespace qs
