// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/formatting.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"

namespace qs {

/// Colours of the window and its number texts, for a plot.
inline PlotStyle plotStyleOf(const Theme& theme)
{
    PlotStyle style;
    style.background = theme.panel;
    style.text = theme.text;
    style.muted = theme.muted;
    style.grid = theme.grid;
    style.border = theme.border;
    style.accent = theme.accent;
    style.clipping = theme.clipping;
    style.number = [](double value) { return numberText(value); };
    return style;
}

} // namespace qs
