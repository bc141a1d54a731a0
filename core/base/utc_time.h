// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

/// Now as "2026-01-31T12:00:00", UTC.
std::string utcTime();

} // namespace qs
