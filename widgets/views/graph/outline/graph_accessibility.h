// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// From now on screen readers find in every GraphCanvas a tree of its boxes: name, operator, number, whether it is
/// quantized, what it reads and feeds. They can select a box, take it out of the recipe and open a group. They are
/// told of another selection, of other boxes, and of another number of the selected one. To be called once or often.
void installGraphAccessibility();

} // namespace qs
