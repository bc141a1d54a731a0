// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// Says on stderr, without taking memory for it, that there is none.
void sayOutOfMemory();

/// From now on, where memory ends in a place that may not throw (a destructor of JSON takes some), the program says so,
/// removes its temporary files and ends with this code. Files have their old contents or the new ones.
void endWhereMemoryEnds(int exitCode);

} // namespace qs
