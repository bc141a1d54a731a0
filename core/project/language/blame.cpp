// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/blame.h"

#include "core/base/work/cancel_scope.h"
#include "core/project/language/language_output.h"
#include "core/project/snapshot/comparing.h"

namespace qs {

Result<TokenBlame> blameOf(
    const Snapshot& snapshot, const BlameRequest& request, const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    QS_TRY(const size_t output, languageOutput(snapshot));
    const OutputRow& row = snapshot.comparison->outputs[output];
    const WorkContext work = workFor(snapshot.inputs, progress, cancel);
    auto blame = blameToken(comparePairOf(snapshot), row.floatValue, row.quantValue, *snapshot.data, request, work);
    if (blame.ok() || !blame.issue().file.empty())
        return blame;
    Issue issue = blame.issue();
    issue.file = snapshot.inputs.data.spec;
    return issue;
}

} // namespace qs
