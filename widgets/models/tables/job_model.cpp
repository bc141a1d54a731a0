// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/job_model.h"

#include "widgets/models/base/cells.h"

namespace qs {

namespace {

double fraction(const JobRow& row)
{
    if (row.state == JobState::Done)
        return 1;
    return row.total > 0 ? std::min(1.0, double(row.done) / double(row.total)) : 0;
}

/// Units a second; 0 when unknown.
double rate(const JobRow& row) { return row.elapsedMs > 0 ? 1000.0 * double(row.done) / double(row.elapsedMs) : 0; }

double elapsed(const JobRow& row) { return double(row.elapsedMs); }

QString phaseText(const JobRow& row)
{
    switch (row.state) {
    case JobState::Running:
        return row.phase.isEmpty() ? JobModel::tr("starting") : row.phase;
    case JobState::Done:
        return JobModel::tr("done");
    case JobState::Failed:
        return JobModel::tr("failed: %1").arg(row.message);
    case JobState::Cancelled:
        return JobModel::tr("cancelled");
    }
    return {};
}

QString progressText(const JobRow& row)
{
    return row.total > 0 ? JobModel::tr("%1 of %2").arg(countText(row.done), countText(row.total)) : QString();
}

QString rateText(const JobRow& row)
{
    const bool known = row.state == JobState::Running && row.total > 0 && row.done > 0 && row.elapsedMs > 0;
    return known ? numberText(rate(row)) + QStringLiteral(" / s") : QString();
}

QString remainingText(const JobRow& row)
{
    if (row.state != JobState::Running || row.done == 0 || row.total <= row.done)
        return {};
    return durationText(elapsed(row) * double(row.total - row.done) / double(row.done));
}

QString elapsedText(const JobRow& row) { return durationText(elapsed(row)); }

QString jobTip(const JobRow& row) { return row.message.isEmpty() ? row.title : row.message; }

} // namespace

JobModel::JobModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("job"), {}, {}, Text }, words<R>(&R::title), jobTip },
        { { tr("phase"), {}, {}, Text }, words<R>(phaseText), jobTip },
        { { tr("progress"), {}, {}, Value, kUp, true, Key::Progress }, words<R>(progressText, fraction), jobTip },
        { { tr("rate"), {}, {}, Value, kUp, true, Key::Rate }, words<R>(rateText, rate), jobTip },
        { { tr("remaining"), {}, {}, Value, kUp, true, Key::Remaining }, words<R>(remainingText, elapsed), jobTip },
        { { tr("time"), {}, {}, Value }, words<R>(elapsedText, elapsed), jobTip },
    });
}

void JobModel::add(const JobRow& row)
{
    std::vector<JobRow> jobs = rows();
    if (jobs.size() >= size_t(kKept)) {
        jobs.pop_back();
        setRows(jobs); // by itself: with both ends new the table would begin anew
    }
    jobs.insert(jobs.begin(), row);
    setRows(std::move(jobs));
}

void JobModel::update(const JobRow& row)
{
    std::vector<JobRow> jobs = rows();
    const auto known = std::ranges::find(jobs, row.id, &JobRow::id);
    if (known == jobs.end() || *known == row)
        return;
    *known = row;
    setRows(std::move(jobs));
}

const JobRow* JobModel::find(quint64 id) const
{
    for (int row = 0; row < rowCount(); ++row)
        if (at(row).id == id)
            return &at(row);
    return nullptr;
}

std::vector<JobRow> JobModel::rows() const
{
    std::vector<JobRow> all;
    for (int row = 0; row < rowCount(); ++row)
        all.push_back(at(row));
    return all;
}

} // namespace qs

#include "moc_job_model.cpp"
