// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"
#include "widgets/session/shown/theme.h"
#include "widgets/views/graph/graph_scene.h"

#include <QColor>
#include <QString>

#include <optional>
#include <vector>

class QPainter;

namespace qs {

/// How one box looks.
struct BoxLook {
    QColor fill; ///< invalid = neutral
    QString number; ///< "−5.4 dB"
    bool hatched = false; ///< cannot run
    bool found = false; ///< matches the search
    std::optional<TriState> quantized; ///< how much of it, by the recipe; nothing where that says nothing
    QString note; ///< "excluded in draft", in place of the subtitle
    bool chosen = false; ///< one of several that were chosen together
    std::vector<QColor> strip; ///< of a closed group: its boxes' colours from top to bottom; invalid = no number
};

/// Everything a painting needs beside the geometry.
struct GraphLook {
    Theme theme;
    GraphFonts fonts;
    std::vector<BoxLook> boxes;
    QString metric; ///< what the boxes' numbers are: "accumulated"
    std::optional<uint32_t> selected, hovered;
    std::optional<uint32_t> selectedEdge;
    bool searching = false; ///< boxes that do not match are dimmed
    bool stale = false; ///< numbers and their colours are not of the recipe as it is: they are dimmed
};

/// The check box at a box's corner, which says whether the recipe quantizes it.
QRectF checkRect(const QRectF& box);

/// Text below this size in pixels is left out.
inline constexpr double kSmallestText = 6;

/// Paints what lies in `visible` (scene coordinates); the painter is transformed to the scene and `zoom` is its scale.
void paintGraph(QPainter& painter, const GraphScene& scene, const GraphLook& look, const QRectF& visible, double zoom);

/// Boxes as plain rectangles, scaled to `target`, for the minimap.
void paintMiniature(QPainter& painter, const GraphScene& scene, const GraphLook& look, const QRectF& target);

} // namespace qs
