// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

namespace qs {

/// The same samples.
bool sameData(const DataRequest& a, const DataRequest& b);
/// Both give the same numbers: threads, memory and caches aside.
bool sameInputs(const Inputs& a, const Inputs& b);
/// For another quantized model: without pairs given by hand, which are those of this one, and without a second one.
Inputs withoutPairsAndOther(Inputs inputs);

} // namespace qs
