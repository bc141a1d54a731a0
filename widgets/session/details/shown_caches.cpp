// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_caches.h"

namespace qs {

ShownCaches::ShownCaches(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("caches"), parent)
{
}

bool ShownCaches::possible(const Snapshot& snapshot)
{
    return snapshot.floatFile && snapshot.data && hasCaches(*snapshot.floatFile->plan, {});
}

ShownCheck::Work ShownCaches::work()
{
    const Snapshot& now = *session().snapshot();
    const bool same = m_kept && m_keptPlan.lock() == now.floatFile->plan && m_keptData.lock() == now.data;
    return [this, kept = same ? m_kept : nullptr](
               const SnapshotPtr& snapshot, const JobContext& job) -> Result<std::function<void()>> {
        auto found = kept;
        if (!found) {
            QS_TRY(CacheReport report, cachesOf(*snapshot, {}, job.progress, job.cancel));
            found = std::make_shared<const CacheReport>(std::move(report));
        }
        return std::function<void()>([this, snapshot, found] {
            m_found = m_kept = found;
            m_keptPlan = snapshot->floatFile->plan;
            m_keptData = snapshot->data;
        });
    };
}

ShownCacheMap::ShownCacheMap(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("cache-map"), parent)
{
}

void ShownCacheMap::look(size_t row, std::optional<size_t> head)
{
    if (m_row == row && m_head == head)
        return;
    m_row = row;
    m_head = head;
    m_map.reset();
    ask();
}

void ShownCacheMap::lookAtNothing()
{
    if (m_row)
        drop();
}

void ShownCacheMap::forget()
{
    m_row.reset();
    m_map.reset();
}

ShownCheck::Work ShownCacheMap::work()
{
    return [this, row = *m_row, head = m_head](
               const SnapshotPtr& snapshot, const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(CacheMap map, cacheMapOf(*snapshot, {}, row, head, job.progress, job.cancel));
        return std::function<void()>([this, map = std::move(map)] { m_map = map; });
    };
}

} // namespace qs

#include "moc_shown_caches.cpp"
