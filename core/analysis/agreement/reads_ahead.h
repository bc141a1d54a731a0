// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <functional>
#include <memory>

namespace qs {

/// Whether what a model says at a position of a text follows from tokens behind it, too, as a masked language model's
/// scores do: a sample is run twice, with another last token the second time, and a score before it moves. A decoder
/// with caches, and one whose attention is causal by itself, is not run. False, too, for outputs that score no tokens,
/// where the model does not run, and where no prompt of the first samples has two tokens. `before`: what is carried,
/// before the first of `feeds`. Issues: cancelled, unreadable data.
Result<bool> readsAhead(const std::shared_ptr<const Plan>& plan, const OutputPair& output, const CarriedState& before,
    size_t feeds, const std::function<Result<Feed>(size_t)>& feed, const WorkContext& work);

} // namespace qs
