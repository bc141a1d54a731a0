// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/project_file.h"
#include "core/project/snapshot/build_snapshot.h"
#include "widgets/models/base/metric.h"
#include "widgets/session/job_list.h"
#include "widgets/session/kept_snapshots.h"
#include "widgets/session/recipe_history.h"
#include "widgets/session/run_estimate.h"
#include "widgets/session/run_list.h"
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

/// What one window works on: the current snapshot, the recipe, the selection, the jobs. Opening anything, and an edit
/// of the recipe, starts a job with the tag "compare"; what was shown stays until its result is there, and stays when
/// it fails. A result whose recipe is not the current one any more is never shown.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(BuildFn build, QObject* parent = nullptr);
    ~Session() override;

    /// Never null; an empty Snapshot at the start.
    SnapshotPtr snapshot() const { return m_snapshot; }
    const Comparison* comparison() const;
    Selection& selection() { return m_selection; }
    /// The compared tensor that is selected; null: none is, or a weight.
    const ActivationRow* selectedActivation() const;
    /// The weight that is selected, or that the selected node uses; null: none.
    const WeightRow* selectedWeight() const;
    JobList& jobs() { return m_jobs; }
    RecipeHistory& recipe() { return m_history; } ///< how it is changed, with the undo stack
    RunList& runs() { return m_runs; }

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);
    const Theme& theme() const { return m_theme; }
    void setTheme(const Theme& theme);

    /// With a recipe that is the one to go on from. Without a quantized file the default recipe makes the quantized
    /// model as soon as there are data.
    void openInputs(const Inputs& inputs);
    void openFloat(const QString& path); ///< replaces everything when a float model was open
    void openQuantized(const QString& path);
    void openData(const QString& spec, const QString& preprocess = {}, std::optional<size_t> limit = {});
    void openClassNames(const QString& path);
    /// A second quantized model to compare the first with; none: takes it away.
    void openOther(const OtherQuantized& other);
    void setArithmetic(ArithmeticProfile profile); ///< of the quantized model; runs it again
    ArithmeticProfile arithmetic() const { return m_wanted.profile; }
    /// Files of any role (dropped, or named on a start page): the roles are found out by a job, then they are opened.
    void openFiles(const QStringList& paths);
    void reload(); ///< reads everything again
    const Inputs& files() const { return m_files; } ///< that are open, whatever the recipe makes of them
    /// Writes what is compared now to an HTML, JSON or CSV file; failed() says what went wrong.
    void exportReport(const QString& path);
    void exportLinks(const QString& path); ///< the pairs made by hand, as a map file; failed() where that fails
    /// Writes a file in a job: written() when it is there, else failed().
    void write(const QString& tag, const QString& path, std::function<Status(const JobContext&)> work);

    /// The whole work as it is now, to be saved.
    Project project(const QString& layout = {}) const;
    void saveProject(const QString& path, const QString& layout); ///< projectSaved() or failed()
    void openProject(const QString& path); ///< layoutFound() when it is open

    /// Off: edits wait for run(). On: those that are expected to take less than kAutoRunMs run by themselves.
    void setAutoRun(bool on);
    bool autoRun() const { return m_autoRun; }
    /// Milliseconds that the recipe as it is now would take; nothing while that is not known.
    std::optional<double> expectedMs() const;
    /// An edit whose numbers are not there and that was not run by itself.
    bool needsRun() const;
    void run(); ///< the recipe as it is now
    /// Makes the recipe of a run the current one, as one step of undo; the next run is its child.
    void restoreRun(RunId id);
    /// Measures at the outputs what the remedies of the findings gain, each alone; the findings hold it then. failed()
    /// where no recipe stands for the quantized file.
    void tryRemedies();
    bool canTryRemedies() const; ///< there are some, and nobody tried them
    void cancel(); ///< the running comparison
    bool busy() const { return m_jobs.running(kCompareTag); }

    static inline const QString kCompareTag = QStringLiteral("compare");
    static inline const QString kRemediesTag = QStringLiteral("remedies");
    static constexpr double kAutoRunMs = 2000;

signals:
    void snapshotChanged(const qs::SnapshotPtr& now, const qs::SnapshotPtr& before);
    void metricChanged(qs::Metric metric);
    void themeChanged();
    void failed(const qs::Issue& issue);
    void cancelled(); ///< a comparison was stopped by the user; the snapshot is the last complete one, if there is any
    void settled(); ///< after success, failure or cancellation of the newest comparison
    void needsRunChanged(bool needs);
    void projectSaved(const QString& path);
    void layoutFound(const QString& layout); ///< of a project that was opened
    void projectOpened(const QString& path);
    void written(const QString& path); ///< what was exported
    void autoRunChanged(bool on);

private:
    struct Opening;
    void open(const Opening& opening, const SnapshotPtr& previous);
    Opening openingOf(const Inputs& inputs) const;
    Inputs inputsNow() const;
    void start(const Inputs& inputs, const SnapshotPtr& previous, const std::optional<Opening>& opening);
    void succeed(const SnapshotPtr& snapshot, const RunNumbers& numbers, const std::optional<Opening>& opening);
    void fail(const Issue& issue);
    void stop(const std::optional<Opening>& opening); ///< the user cancelled
    void drop(); ///< the running comparison, whose result nobody wants any more
    void recipeEdited();
    void adopt(const Opening& opening, const Snapshot& snapshot);
    void show(const SnapshotPtr& complete, const std::optional<RunNumbers>& numbers);
    void readRecipe(); ///< of the quantized file that is open
    void findFileBytes();
    void updateEditable(bool opening);
    void publish(const SnapshotPtr& snapshot);
    void tellNeedsRun();
    void suggestSelection(); ///< unless the user chose one: the place of the first finding, else the worst tensor
    std::optional<size_t> worstActivation() const;

    BuildFn m_build;
    SnapshotPtr m_snapshot;
    SnapshotPtr m_complete; ///< last one that is not partial; what the next job starts from
    SnapshotPtr m_tried; ///< the last one whose remedies were tried
    Inputs m_files; ///< that the recipe belongs to; without a recipe
    Inputs m_wanted; ///< files that are being opened, else m_files
    std::map<std::string, FileMark> m_fileMarks; ///< of m_files, as far as they were read for a project
    RecipeHistory m_history;
    RunList m_runs;
    KeptSnapshots m_kept;
    RunEstimate m_estimate;
    quint64 m_newest = 0; ///< number of the newest job; what older ones bring is dropped
    bool m_opening = false; ///< the running job opens m_wanted
    bool m_presetFits = true; ///< without a quantized file: the recipe that nobody chose could be applied
    bool m_adopting = false; ///< while the recipe changes without the user
    QTimer m_sizeTimer; ///< until what is shown stays for a moment
    bool m_neededRun = false;
    bool m_autoRun = true;
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
