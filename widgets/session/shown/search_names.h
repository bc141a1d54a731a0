// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <QStringList>

namespace qs {

/// Names of nodes and tensors of both models, each once, the likely ones first: compared tensors and operators, then
/// weights and other tensors, at last the plumbing (constants, casts, quantizers and what they make).
QStringList searchNames(const Snapshot& snapshot);

} // namespace qs
