// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/prepare/iteration_value.h"
#include "core/prepare/known_inputs.h"

namespace qs {

struct ExpandOptions {
    bool loops = false; ///< Loop and Scan, too, not If alone
    int64_t mostIterations = 64; ///< of one loop
    size_t mostNodes = 4000; ///< that all loops together may add
};

/// A node whose subgraphs stay where they are.
struct KeptBody {
    std::string node, opType;
    std::string reason; ///< "its condition depends on data"
};

/// The branch of an If whose place the other one took, for what inputs hold or their sizes.
struct UntakenBranch {
    std::string node; ///< the If, which is gone
    bool ofTrue = false; ///< then_branch, else else_branch
    std::shared_ptr<const Plan> plan; ///< null where nobody looked for it
};

struct Expansion {
    size_t branches = 0, loops = 0; ///< nodes whose place their subgraph's nodes took
    std::vector<IterationValue> values;
    std::vector<KeptBody> kept;
    std::vector<UntakenBranch> untaken;
    InputsBehind behind; ///< inputs that conditions and numbers of iterations followed from
};

/// The draft's plan with what is known, and what follows from it and from the sizes that it gives, as constants.
Result<std::shared_ptr<const Plan>> planOfKnown(
    const GraphDraft& draft, const KnownInputs& known, const std::shared_ptr<LoweringCache>& lowered = {});

/// Puts the nodes of the branch that is taken in the place of each If whose condition is constant, and with `loops`
/// those of each iteration in the place of Loop and Scan whose number of iterations is. `known` decides what is
/// constant; the draft keeps its inputs. Values keep their names but for those of iterations, which become
/// LOOP/ITERATION/NAME; what is the same in all iterations is computed once. Results are the same to the bit for
/// inputs as they are known.
/// Issues: names that `known` has and the model has not, a draft that does not fit together.
Result<Expansion> expandBodies(GraphDraft& draft, const KnownInputs& known = {}, const ExpandOptions& options = {});

} // namespace qs
