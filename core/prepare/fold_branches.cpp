// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/expand_bodies.h"
#include "core/prepare/prepare.h"

namespace qs {

Result<PassReport> foldBranches(GraphDraft& draft)
{
    QS_TRY(const Expansion made, expandBodies(draft));
    return PassReport { "fold_branches", made.branches };
}

} // namespace qs
