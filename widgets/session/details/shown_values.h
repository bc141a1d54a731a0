// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/read_values.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/session.h"

#include <QObject>

#include <memory>
#include <optional>

namespace qs {

/// The raw numbers of the tensor at a place, for the place's sample, else the first. Read by a job while somebody
/// watches; so are statistics and searches.
class ShownValues : public QObject {
    Q_OBJECT
public:
    ShownValues(Session& session, const ShownPlace& place, QObject* parent = nullptr);

    void watch(bool looks);
    void stop(); ///< what is being read for nobody any more

    /// Null: nothing that could be shown is there, or it is not read yet.
    const std::shared_ptr<const TensorValues>& values() const { return m_values; }
    bool isNow() const; ///< they are of what is selected, whoever is told first
    QString name() const; ///< of the tensor that is wanted; empty: none
    QString sampleText() const; ///< that the values are of; empty: of none, or nothing is shown
    QString hint() const; ///< why there is nothing to see

    struct Statistics {
        std::optional<ValueStatistics> slice, whole;
    };
    /// statisticsFound() tells them; what was asked for before is dropped.
    void summarize(ValueKind kind, const SliceGrid& slice);
    /// found() tells the position.
    void find(ValueKind kind, const SliceGrid& grid, const ValueSearch& search, std::optional<size_t> from);

signals:
    void changed();
    void statisticsFound(const qs::ShownValues::Statistics& statistics);
    void found(std::optional<size_t> position);

private:
    struct Asked {
        const Snapshot* snapshot = nullptr;
        TensorPlace place;
        std::optional<size_t> sample; ///< nothing for constants
        bool operator==(const Asked&) const = default;
    };
    std::optional<TensorPlace> place() const;
    size_t sample() const;
    void refresh();
    void start(const SnapshotPtr& snapshot, const Asked& wanted);

    Session& m_session;
    const ShownPlace& m_place;
    const QString m_valuesTag, m_statisticsTag, m_findTag; ///< of its jobs alone
    bool m_watched = false;
    std::optional<Asked> m_asked; ///< what m_values is of, or what runs
    std::shared_ptr<const TensorValues> m_values;
    QString m_problem;
    /// What was summed up last, for slices of the same numbers.
    struct Whole {
        std::weak_ptr<const TensorValues> of;
        ValueKind kind = ValueKind::Float;
        ValueStatistics statistics;
    };
    std::optional<Whole> m_whole;
};

} // namespace qs
