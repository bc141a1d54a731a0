// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/element_search.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/details/pair_details.h"

#include <QPointer>

namespace qs {

void selectLargestError(Session& session, ShownPlace& place, const std::vector<AxisPart>& parts,
    const std::optional<std::pair<double, double>>& within)
{
    const auto tensor = tensorAt(session, place.current());
    if (!tensor || waitsForRun(session, *tensor))
        return;
    const SnapshotPtr snapshot = session.snapshot();
    const auto samples
        = isConstant(*snapshot, *tensor) ? std::vector<size_t> { 0 } : shownSamples(session, place.current());
    JobRequest job;
    job.tag = QStringLiteral("largest-error");
    job.title = ShownPlace::tr("Look for the largest error of %1").arg(toQt(nameOf(*snapshot, *tensor)));
    job.visibility = Visibility::Hidden;
    job.process = [owner = QPointer(&session), shown = QPointer(&place), before = place.current(), snapshot,
                      search = ErrorSearch { *tensor, samples, parts, within }](
                      const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(const auto found, largestError(*snapshot, search, detailWork(*snapshot, context)));
        return std::function<void()>([owner, shown, before, snapshot, found] {
            if (owner && shown && found && owner->snapshot() == snapshot && shown->current() == before)
                shown->selection().selectElement(ChosenElement { found->sample, int64_t(found->element) });
        });
    };
    session.jobs().start(std::move(job));
}

} // namespace qs
