// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// What `compare --json` says of a snapshot with a comparison, without what only a report adds.
nlohmann::ordered_json compareDocument(const Snapshot& snapshot);

} // namespace qs
