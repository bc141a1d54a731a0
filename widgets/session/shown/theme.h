// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include <optional>

namespace qs {

enum class ThemeChoice { System, Light, Dark };
QString themeChoiceName(ThemeChoice choice); ///< "system", "light" or "dark"
std::optional<ThemeChoice> themeChoiceFromName(const QString& name);

/// Every colour of the window. Nothing else names colours.
struct Theme {
    bool dark = false;
    QColor window; ///< between the panels
    QColor panel; ///< background of panels, tables, plots
    QColor raised; ///< neutral boxes, hover
    QColor border;
    QColor grid; ///< lines of plots and tables
    QColor text;
    QColor muted; ///< labels, units
    QColor accent; ///< the one accent: selection, links, primary actions
    QColor accentSoft; ///< background of what is selected
    QColor onAccent; ///< text on accent
    QColor error, warning, note; ///< severities, always beside an icon
    QColor floatSeries, quantSeries, noiseSeries, idealSeries; ///< plots (Okabe-Ito)
    QColor otherSeries; ///< a second quantized model in them
    QColor clipping, rounding, weights, kernel, inherited; ///< noise by origin (Okabe-Ito)

    static Theme light();
    static Theme darkOne();
    /// Colour of a badness 0 (best) .. 1 (worst), see metricBadness(): cividis with yellow = worst,
    /// bright on either ground.
    QColor magnitude(double badness) const;
    /// Colour of a signed value -1 (worse, orange) .. 0 (equal) .. 1 (better, blue).
    QColor difference(double position) const;
    /// Black or white, whichever reads better on it.
    static QColor textOn(const QColor& background);
    /// Every colour that the style sheet names has a role of its own; see kRoles in views/theme/style.cpp.
    QPalette palette() const;
};

} // namespace qs
