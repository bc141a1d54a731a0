// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/graph_painter.h"

#include <QString>

namespace qs {

/// Writes the whole graph as svg, png or pdf, by the file name's ending. False when it cannot be written.
bool exportGraph(const GraphScene& scene, const GraphLook& look, const QString& path);

} // namespace qs
