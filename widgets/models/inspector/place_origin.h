// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/origin/exporter_origin.h"
#include "widgets/models/base/place.h"

#include <QString>

namespace qs {

struct Snapshot;

/// The node that a place is about: the one selected, else what makes the value, else the first that reads it. Null
/// where there is none.
const Node* nodeOfPlace(const Snapshot& snapshot, const Place& place);
/// The same node of the quantized file, for a place of the float one; null where none is known.
const Node* partnerOfPlace(const Snapshot& snapshot, const Place& place);

/// What the files say of the program that the selected node came from: the file that it is in or, where that says
/// nothing, the other one.
ExporterOrigin placeOrigin(const Snapshot& snapshot, const Place& place);

/// "model.py:42 in forward — x = self.conv(x)"; "" without a frame.
QString sourceText(const ExporterOrigin& origin);
/// "block.0.conv1 (Conv2d) · model.py:42"; "" where nothing is known but scopes that the name shows anyway.
QString originLine(const Node& node);

} // namespace qs
