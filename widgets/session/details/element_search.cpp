// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/element_search.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/details/pair_details.h"

#include <QPointer>

#include <algorithm>
#include <numeric>

namespace qs {

std::optional<TensorPlace> tensorAt(const Session& session, const Place& place)
{
    if (!place.value.valid() && !place.weight)
        return std::nullopt;
    const TensorPlace there { place.side == Side::Quantized, place.value, place.weight };
    return nameOf(*session.snapshot(), there).empty() ? std::nullopt : std::optional(there);
}

bool waitsForRun(const Session& session, const TensorPlace& place)
{
    const Snapshot& now = *session.snapshot();
    return !isConstant(now, place) && (!now.data || (now.comparison && now.comparison->partial));
}

std::vector<size_t> shownSamples(const Session& session, const Place& place)
{
    if (place.sample)
        return { *place.sample };
    const auto& data = session.snapshot()->data;
    std::vector<size_t> samples(data ? std::min(data->samples(), PairDetails::kMostSamples) : 1);
    std::iota(samples.begin(), samples.end(), size_t(0));
    return samples;
}

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
                shown->selection().selectElement(ElementAt { found->sample, int64_t(found->element) });
        });
    };
    session.jobs().start(std::move(job));
}

} // namespace qs
