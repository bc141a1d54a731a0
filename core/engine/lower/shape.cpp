// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowering.h"

namespace qs {

void lowerShape(LoweringRegistry&) { }

} // namespace qs
