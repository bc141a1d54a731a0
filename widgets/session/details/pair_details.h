// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "core/analysis/lab/weight_map.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/session.h"

#include <QObject>

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace qs {

/// What looking at single samples of a compared snapshot needs; takes a moment, so only on a worker thread.
DetailInputs detailInputs(const Snapshot& snapshot);
/// How it is done: on one thread, since runs that are waited for may go on beside it.
WorkContext detailWork(const Snapshot& snapshot, const JobContext& job);

/// The pair of tensors at a place, element by element: of the place's sample, else of the first ones; of a weight, the
/// map of its errors. Made by a job while somebody watches.
class PairDetails : public QObject {
    Q_OBJECT
public:
    PairDetails(Session& session, const ShownPlace& place, QObject* parent = nullptr);

    void stop(); ///< what is being made for nobody any more
    void watch(const QObject* who, bool watches);
    /// Of ShownPlace::activation(). Null: nothing that could be shown is selected, or it is not ready.
    std::shared_ptr<const PairDetail> detail() const { return m_detail; }
    /// The same of a second quantized model (B); null: there is none, or it has no such pair.
    std::shared_ptr<const PairDetail> otherDetail() const { return m_other; }
    /// Of ShownPlace::weight(), in the same way.
    std::shared_ptr<const WeightMap> weight() const { return m_weight; }
    std::shared_ptr<const WeightMap> otherWeight() const { return m_otherWeight; }
    QString samplesText() const; ///< "sample 3", "the first 16 of 64 samples"
    QString hint() const; ///< why there is nothing to see

signals:
    void changed();

private:
    /// What is made, or runs.
    struct Asked {
        const Snapshot* snapshot = nullptr;
        size_t row = 0;
        bool weight = false; ///< the row is one of Comparison::weights
        std::optional<size_t> sample;
        bool operator==(const Asked&) const = default;
    };
    /// What a job found, in the thread of the window.
    using Found = std::function<void(PairDetails&)>;
    void refresh();
    std::optional<Asked> wanted() const;
    static Result<Found> made(
        const Snapshot& snapshot, const Asked& asked, const std::vector<size_t>& samples, const JobContext& context);

    Session& m_session;
    const ShownPlace& m_place;
    const QString m_tag; ///< of its jobs alone
    std::set<const QObject*> m_watchers;
    std::shared_ptr<const PairDetail> m_detail, m_other;
    std::shared_ptr<const WeightMap> m_weight, m_otherWeight;
    QString m_problem;
    std::optional<Asked> m_asked;
};

} // namespace qs
