// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/workspace.h"
#include "widgets/models/metric.h"
#include "widgets/session/job_list.h"
#include "widgets/session/selection.h"
#include "widgets/session/theme.h"

#include <QObject>
#include <QStringList>

#include <functional>
#include <optional>

namespace qs {

/// buildSnapshot, or a test's substitute. Only ever called on a worker thread.
using BuildFn = std::function<Result<SnapshotPtr>(const Inputs& inputs, const SnapshotPtr& previous,
    const ProgressFn& progress, const CancelToken& cancel, const PartialFn& partial)>;

/// What one window works on: the current snapshot, the selection, the jobs. Opening anything starts a job with the tag
/// "compare"; what was open stays until its result is there, and stays when it fails.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(BuildFn build, QObject* parent = nullptr);
    ~Session() override;

    /// Never null; an empty Snapshot at the start.
    SnapshotPtr snapshot() const { return m_snapshot; }
    const Comparison* comparison() const;
    Selection& selection() { return m_selection; }
    JobList& jobs() { return m_jobs; }

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);
    const Theme& theme() const { return m_theme; }
    void setTheme(const Theme& theme);

    void openInputs(const Inputs& inputs);
    void openFloat(const QString& path); ///< replaces everything when a float model was open
    void openQuantized(const QString& path);
    void openData(const QString& spec, const QString& preprocess = {}, std::optional<size_t> limit = {});
    /// Files of any role (dropped, or named on a start page): the roles are found out by a job, then they are opened.
    void openFiles(const QStringList& paths);
    void reload(); ///< reads everything again
    /// Writes what is compared now to an HTML, JSON or CSV file; failed() says what went wrong.
    void exportReport(const QString& path);
    void cancel(); ///< the running comparison
    bool busy() const { return m_jobs.running(kCompareTag); }

    static inline const QString kCompareTag = QStringLiteral("compare");

signals:
    void snapshotChanged(const qs::SnapshotPtr& now, const qs::SnapshotPtr& before);
    void metricChanged(qs::Metric metric);
    void themeChanged();
    void failed(const qs::Issue& issue);
    void cancelled(); ///< a comparison was stopped by the user; the snapshot is the last one published
    void settled(); ///< after success, failure or cancellation of the newest comparison

private:
    void open(const Inputs& inputs, const SnapshotPtr& previous);
    void publish(const SnapshotPtr& snapshot);
    void suggestSelection(); ///< unless the user chose one: the place of the first finding, else the worst tensor
    std::optional<size_t> worstActivation() const;

    BuildFn m_build;
    SnapshotPtr m_snapshot;
    SnapshotPtr m_complete; ///< last one that is not partial; what the next job starts from
    Inputs m_wanted; ///< inputs of the running or last job
    Metric m_metric = Metric::Accumulated;
    Theme m_theme = Theme::light();
    Selection m_selection;
    Place m_suggested; ///< what is selected since nobody chose anything; follows better results
    bool m_chosenByUs = false; ///< while the selection changes without the user
    JobList m_jobs;
};

} // namespace qs

Q_DECLARE_METATYPE(qs::SnapshotPtr)
Q_DECLARE_METATYPE(qs::Issue)
Q_DECLARE_METATYPE(qs::Metric)
