// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/graph_painter.h"

#include <functional>

namespace qs {

/// Of these boxes the one with the worst number; nothing where none has one.
std::optional<uint32_t> worstOf(
    const std::vector<uint32_t>& boxes, const std::vector<BoxNumber>& numbers, Metric metric);

/// Numbers of what is drawn, from those of the content's boxes: a closed group has that of its worst box.
std::vector<BoxNumber> drawnNumbers(const std::vector<BoxNumber>& ofContent, const FoldedGraph& drawn, Metric metric);

/// At most some fifty colours for the boxes of a closed group, in their order; each the worst of the boxes it is for.
std::vector<QColor> stripOf(const std::vector<uint32_t>& boxes, const std::vector<BoxNumber>& numbers, Metric metric,
    const std::function<QColor(const BoxNumber&)>& colour);

} // namespace qs
