// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/arithmetic/saturation_lab.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// The outputs by each arithmetic, what each node loses, and the remedies that were measured.
nlohmann::ordered_json saturationLabJson(const SaturationLab& lab);

} // namespace qs
