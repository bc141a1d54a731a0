// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/pair_details.h"

#include "core/project/about/read_values.h"
#include "core/project/snapshot/comparing.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/other_row.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/shown/empty_texts.h"

#include <QPointer>

#include <algorithm>

namespace qs {

namespace {

/// Null where there is no second model, or it has no such pair or cannot run here.
std::shared_ptr<const PairDetail> detailOfOther(
    const Snapshot& snapshot, const ActivationRow& row, const std::vector<size_t>& samples, const JobContext& context)
{
    const ActivationRow* pair = otherRow(snapshot, row, &Comparison::activations);
    if (!pair || !snapshot.other->snapshot->data)
        return nullptr;
    const Snapshot& second = *snapshot.other->snapshot;
    auto found
        = pairDetail(detailInputs(second), pair->floatValue, pair->quantValue, samples, detailWork(second, context));
    return found ? std::make_shared<const PairDetail>(std::move(found).value()) : nullptr;
}

} // namespace

WorkContext detailWork(const Snapshot& snapshot, const JobContext& job)
{
    WorkContext work = workFor(snapshot.inputs, job.progress, job.cancel);
    work.threads = 1;
    return work;
}

DetailInputs detailInputs(const Snapshot& snapshot)
{
    return { comparePairOf(snapshot), snapshot.data, snapshot.inputs.carry, snapshot.caches.activations };
}

PairDetails::PairDetails(Session& session, const ShownPlace& place, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_place(place)
    , m_tag(QStringLiteral("pair-detail-%1").arg(quintptr(this)))
{
    connect(&session, &Session::snapshotChanged, this, &PairDetails::refresh);
    connect(&place, &ShownPlace::changed, this, &PairDetails::refresh);
}

void PairDetails::stop() { m_session.jobs().cancelTag(m_tag); }

void PairDetails::watch(const QObject* who, bool watches)
{
    if (watches)
        m_watchers.insert(who);
    else
        m_watchers.erase(who);
    if (watches)
        refresh();
}

QString PairDetails::samplesText() const
{
    const auto& data = m_session.snapshot()->data;
    if (!data)
        return {};
    if (const auto sample = m_place.current().sample)
        return toQt(data->sampleName(*sample));
    const size_t count = data->samples();
    if (count > kMostShownSamples)
        return tr("first %1 of %2 samples").arg(kMostShownSamples).arg(countText(count));
    return qs::samplesText(count);
}

QString PairDetails::hint() const
{
    if (!m_session.comparison())
        return whyNothingCompared(*m_session.snapshot());
    if (!m_place.activation() && !m_place.current().weight)
        return tr("Choose a tensor or a weight that both models have.");
    return m_problem.isEmpty() ? tr("Looking closely…") : m_problem;
}

std::optional<PairDetails::Asked> PairDetails::wanted() const
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const Place& place = m_place.current();
    if (place.weight && m_place.weight()) // not that of the node
        return Asked { snapshot.get(), *place.weight, true, {} };
    if (m_place.activation() && snapshot->data && !snapshot->comparison->partial)
        return Asked { snapshot.get(), *place.activation, false, place.sample };
    return std::nullopt;
}

Result<PairDetails::Found> PairDetails::made(
    const Snapshot& snapshot, const Asked& asked, const std::vector<size_t>& samples, const JobContext& context)
{
    if (asked.weight) {
        const WeightRow& row = snapshot.comparison->weights[asked.row];
        QS_TRY(const TensorValues values,
            readValues(snapshot, { false, row.floatValue, asked.row }, 0, detailWork(snapshot, context)));
        const auto map = [&](bool other) {
            auto found = weightMap(values, row, other, context.cancel);
            return found ? std::make_shared<const WeightMap>(std::move(*found)) : nullptr;
        };
        const auto first = map(false), second = map(true);
        if (!first && !second)
            return badInput(values.note.empty() ? "it has no numbers in both models" : values.note, row.name);
        return Found([first, second](PairDetails& self) {
            self.m_weight = first;
            self.m_otherWeight = second;
        });
    }
    const ActivationRow& pair = snapshot.comparison->activations[asked.row];
    QS_TRY(PairDetail found,
        pairDetail(detailInputs(snapshot), pair.floatValue, pair.quantValue, samples, detailWork(snapshot, context)));
    return Found([detail = std::make_shared<const PairDetail>(std::move(found)),
                     other = detailOfOther(snapshot, pair, samples, context)](PairDetails& self) {
        self.m_detail = detail;
        self.m_other = other;
    });
}

void PairDetails::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const std::optional<Asked> asked = wanted();
    if (m_asked && m_asked->snapshot != snapshot.get())
        m_asked.reset(); // its address may come again
    if (asked && asked == m_asked)
        return;
    const bool watched = !m_watchers.empty(), empty = !m_detail && !m_weight && m_problem.isEmpty();
    if (asked && !watched && empty)
        return;
    m_asked = watched ? asked : std::nullopt; // what is there is of another place by now, whoever looks at it
    m_detail.reset();
    m_other.reset();
    m_weight.reset();
    m_otherWeight.reset();
    m_problem.clear();
    m_session.jobs().cancelTag(m_tag);
    emit changed();
    if (!m_asked)
        return;
    JobRequest job;
    job.tag = m_tag;
    job.title = tr("Look closely at %1").arg(toQt(asked->weight ? m_place.weight()->name : m_place.activation()->name));
    job.visibility = Visibility::Hidden;
    job.process = [self = QPointer(this), snapshot, asked = *asked, list = shownSamples(m_session, m_place.current())](
                      const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(const Found take, made(*snapshot, asked, list, context));
        return std::function<void()>([self, asked, take] {
            if (!self || self->m_asked != asked)
                return;
            take(*self);
            emit self->changed();
        });
    };
    job.failed = [self = QPointer(this), asked](const Issue& issue) {
        if (!self || self->m_asked != asked)
            return;
        self->m_problem = issueHeadline(issue);
        emit self->changed();
    };
    m_session.jobs().start(std::move(job));
}

} // namespace qs

#include "moc_pair_details.cpp"
