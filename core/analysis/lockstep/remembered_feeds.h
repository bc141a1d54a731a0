// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/run/activation_cache.h"

namespace qs {

/// A feed of the source, of so many inputs; with a cache it is read (or decoded, or drawn) once for all runs, as far as
/// there is room.
Result<Feed> rememberedFeed(const DataSource& data, size_t index, size_t inputs, ActivationCache* cache);

} // namespace qs
