// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// Which way up the bytes of a JPEG file say that its pixels lie, by the EXIF tag "orientation": 1 (as they are) to 8.
/// 1 where nothing usable is said; hostile bytes are read like any others.
int exifOrientation(std::string_view bytes);

} // namespace qs
