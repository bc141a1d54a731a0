// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/shown/theme.h"
#include "widgets/views/graph/graph_scene.h"

#include <QColor>

#include <vector>

class QPainter;

namespace qs {

/// The mark of a closed group or an open frame that opens or closes it; `rect` is the box or the frame's title.
QRectF foldMarkRect(const QRectF& rect);

/// Frames of open groups, below everything else; titles where they are readable.
struct FramePainting {
    const Theme& theme;
    const QFont& font; ///< of titles
    bool readable = true;
    double onePixel = 1; ///< in scene coordinates
    double least = 0; ///< height of a frame that is drawn
};
void paintFrames(QPainter& painter, const GraphScene& scene, const FramePainting& how, const QRectF& visible);

/// The edges of the boxes that a closed group stands for, behind its box.
void paintStack(QPainter& painter, const QRectF& box, const Theme& theme);

/// The mark that opens a closed group, and its strip of colours (invalid = no number), on its box.
void paintGroupMarks(
    QPainter& painter, const QRectF& box, const std::vector<QColor>& strip, const Theme& theme, const QColor& ink);

} // namespace qs
