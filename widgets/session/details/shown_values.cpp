// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_values.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/details/pair_details.h"

#include <QPointer>

namespace qs {

namespace {

QString tagOf(const char* work, const ShownValues* who)
{
    return QStringLiteral("%1-%2").arg(QLatin1String(work)).arg(quintptr(who));
}

} // namespace

ShownValues::ShownValues(Session& session, const ShownPlace& place, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_place(place)
    , m_valuesTag(tagOf("tensor-values", this))
    , m_statisticsTag(tagOf("value-statistics", this))
    , m_findTag(tagOf("value-search", this))
{
    connect(&session, &Session::snapshotChanged, this, &ShownValues::refresh);
    connect(&place, &ShownPlace::changed, this, &ShownValues::refresh);
}

void ShownValues::watch(bool looks)
{
    m_watched = looks;
    if (looks)
        refresh();
}

void ShownValues::stop()
{
    for (const QString& tag : { m_valuesTag, m_statisticsTag, m_findTag })
        m_session.jobs().cancelTag(tag);
}

std::optional<TensorPlace> ShownValues::place() const { return tensorAt(m_session, m_place.current()); }

size_t ShownValues::sample() const { return m_place.current().sample.value_or(0); }

bool ShownValues::isNow() const
{
    const auto at = place();
    return m_values && m_asked && at == m_asked->place && m_asked->snapshot == m_session.snapshot().get();
}

QString ShownValues::name() const
{
    const auto now = place();
    return now ? toQt(nameOf(*m_session.snapshot(), *now)) : QString();
}

QString ShownValues::sampleText() const
{
    const auto& data = m_session.snapshot()->data;
    return m_values && m_values->sample && data ? toQt(data->sampleName(*m_values->sample)) : QString();
}

QString ShownValues::hint() const
{
    const Snapshot& now = *m_session.snapshot();
    if (!now.floatModel && !now.quantModel)
        return tr("Open a model to see the numbers of its tensors.");
    const auto wanted = place();
    if (!wanted)
        return tr("Choose a tensor or a weight: a node of the graph, a row of a table.");
    if (!m_problem.isEmpty())
        return m_problem;
    if (!waitsForRun(m_session, *wanted))
        return tr("Reading %1…").arg(name());
    return now.data ? tr("%1 is read when the comparison is done.").arg(name())
                    : tr("The numbers of %1 depend on data: open some.").arg(name());
}

void ShownValues::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    if (m_asked && m_asked->snapshot != snapshot.get()) { // its address may come again
        m_asked.reset();
        m_values.reset();
    }
    if (!m_watched)
        return;
    const auto at = place();
    std::optional<Asked> wanted;
    if (at && !waitsForRun(m_session, *at))
        wanted = Asked { snapshot.get(), *at, isConstant(*snapshot, *at) ? std::nullopt : std::optional(sample()) };
    if (wanted && wanted == m_asked)
        return;
    m_asked = wanted;
    m_values.reset();
    m_problem.clear();
    stop();
    if (wanted)
        start(snapshot, *wanted);
    emit changed();
}

void ShownValues::start(const SnapshotPtr& snapshot, const Asked& wanted)
{
    JobRequest job;
    job.tag = m_valuesTag;
    job.title = tr("Read the values of %1").arg(name());
    job.visibility = Visibility::Hidden;
    job.process
        = [self = QPointer(this), snapshot, wanted](const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(TensorValues read,
            readValues(*snapshot, wanted.place, wanted.sample.value_or(0), detailWork(*snapshot, context)));
        auto values = std::make_shared<const TensorValues>(std::move(read));
        return std::function<void()>([self, snapshot, wanted, values] {
            if (!self || self->m_asked != wanted)
                return;
            self->m_values = values;
            emit self->changed();
        });
    };
    job.failed = [self = QPointer(this), wanted](const Issue& issue) {
        if (!self || self->m_asked != wanted)
            return;
        self->m_problem = issueHeadline(issue);
        emit self->changed();
    };
    m_session.jobs().start(std::move(job));
}

void ShownValues::summarize(ValueKind kind, const SliceGrid& slice)
{
    JobRequest job;
    job.tag = m_statisticsTag;
    job.title = tr("Sum up the values of %1").arg(name());
    job.visibility = Visibility::Hidden;
    const bool summed = m_whole && m_whole->kind == kind && m_whole->of.lock() == m_values;
    const auto known = summed ? std::optional(m_whole->statistics) : std::nullopt;
    job.process = [self = QPointer(this), values = m_values, kind, slice, known](
                      const JobContext& context) -> Result<std::function<void()>> {
        Statistics found;
        found.slice = statisticsOf(*values, kind, slice, context.cancel);
        const SliceGrid whole = SliceGrid::inOrder(TensorSlice::whole(values->shape), values->shape);
        found.whole = slice.count() == whole.count() ? found.slice
            : known                                  ? known
                                                     : statisticsOf(*values, kind, whole, context.cancel);
        return std::function<void()>([self, values, kind, found] {
            if (!self || self->m_values != values)
                return;
            if (found.whole)
                self->m_whole = Whole { values, kind, *found.whole };
            emit self->statisticsFound(found);
        });
    };
    m_session.jobs().start(std::move(job));
}

void ShownValues::find(ValueKind kind, const SliceGrid& grid, const ValueSearch& search, std::optional<size_t> from)
{
    JobRequest job;
    job.tag = m_findTag;
    job.title = tr("Search the values of %1").arg(name());
    job.visibility = Visibility::Hidden;
    job.process = [self = QPointer(this), values = m_values, kind, grid, search, from](
                      const JobContext& context) -> Result<std::function<void()>> {
        const auto position = findValue(*values, kind, grid, search, from, context.cancel);
        return std::function<void()>([self, values, position] {
            if (self && self->m_values == values)
                emit self->found(position);
        });
    };
    m_session.jobs().start(std::move(job));
}

} // namespace qs

#include "moc_shown_values.cpp"
