// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

namespace qs {

/// A number that may not exist (null in JSON); for dB also "exact".
using Number = std::optional<double>;

} // namespace qs
