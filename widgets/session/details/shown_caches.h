// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/language/caches.h"
#include "widgets/session/details/shown_checks.h"

#include <memory>

namespace qs {

/// What the float model remembers of the samples. It depends on nothing else, so it stays as long as these do.
class ShownCaches : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownCaches(Session& session, QObject* parent = nullptr);
    std::shared_ptr<const CacheReport> found() const { return m_found; }
    static bool possible(const Snapshot& snapshot); ///< the float model has caches of keys and values

protected:
    QString title() const override { return tr("Look at keys and values"); }
    bool wanted(const Snapshot& snapshot) const override { return possible(snapshot); }
    Work work() override;
    void forget() override { m_found.reset(); }

private:
    std::shared_ptr<const CacheReport> m_found, m_kept;
    std::weak_ptr<const Plan> m_keptPlan; ///< what was kept is of these
    std::weak_ptr<const DataSource> m_keptData;
};

/// The magnitudes of one row of the report, head by head or all heads, by channel and position.
class ShownCacheMap : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownCacheMap(Session& session, QObject* parent = nullptr);
    /// Of the report's row; no head: all of them.
    void look(size_t row, std::optional<size_t> head);
    void lookAtNothing();
    const CacheMap* map() const { return m_map ? &*m_map : nullptr; }

protected:
    QString title() const override { return tr("Look at the channels of a head"); }
    bool wanted(const Snapshot& snapshot) const override { return m_row && ShownCaches::possible(snapshot); }
    Work work() override;
    void forget() override;

private:
    std::optional<size_t> m_row, m_head; ///< asked for
    std::optional<CacheMap> m_map;
};

} // namespace qs
