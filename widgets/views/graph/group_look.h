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

/// The boxes of a closed row of so many equal blocks, one colour a block, each of its worst box; invalid where it has
/// no number. At most some fifty: then each is for several blocks.
std::vector<QColor> stripOfBlocks(const std::vector<uint32_t>& boxes, size_t blocks,
    const std::vector<BoxNumber>& numbers, Metric metric, const std::function<QColor(const BoxNumber&)>& colour);

/// At most some fifty colours for the boxes of a closed group, in their order; each the worst of the boxes it is for.
std::vector<QColor> stripOf(const std::vector<uint32_t>& boxes, const std::vector<BoxNumber>& numbers, Metric metric,
    const std::function<QColor(const BoxNumber&)>& colour);

/// Of a closed group of these boxes: by block where it is a row of blocks.
std::vector<QColor> stripOfGroup(const BoxGroup& group, const std::vector<uint32_t>& boxes,
    const std::vector<BoxNumber>& numbers, Metric metric, const std::function<QColor(const BoxNumber&)>& colour);

} // namespace qs
