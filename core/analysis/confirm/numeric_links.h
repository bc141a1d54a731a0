// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/confirm/sketched_run.h"

namespace qs {

/// Links of an alignment: what it leaves single and is the same as a value of the other file that has a partner
/// already, and, element by element on the samples, what is left on both sides and differs in the order of the axes.
void addLinks(const ComparePair& pair, const Evidence& evidence, const SampleInputs& samples, const WorkContext& work,
    Alignment& alignment);

} // namespace qs
