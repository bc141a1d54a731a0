// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

/// What the parts of the histogram draw with.
namespace qs {

inline constexpr double kLogFloor = 0.5; ///< where empty bins lie on a logarithmic axis

inline QColor translucent(QColor colour, int alpha)
{
    colour.setAlpha(alpha);
    return colour;
}

} // namespace qs
